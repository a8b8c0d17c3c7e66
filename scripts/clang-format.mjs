// Formats the C++ sources where clang-format is installed; --check: only says which ones differ.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isGiven } from './arguments.mjs';
import { must, root, say } from './set-up.mjs';

const FOLDERS = ['native', 'test/native', 'test/fuzz', 'bench'];

function sources(folder) {
  const names = readdirSync(join(root, folder), { recursive: true });
  return names.filter((name) => /(?<!\.gen)\.(cc|h)$/.test(name)).map((name) => join(folder, name));
}

if (spawnSync('clang-format', ['--version'], { stdio: 'ignore' }).error) {
  say('clang-format is not installed: the C++ sources stay as they are');
} else {
  const mode = isGiven('check') ? ['--dry-run', '--Werror'] : ['-i'];
  must('clang-format', 'clang-format', [...mode, ...FOLDERS.flatMap(sources)]);
}
