// Formats the C++ sources; --check: only says which ones differ.
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isGiven } from './arguments.mjs';
import { must, root } from './set-up.mjs';

const FOLDERS = ['native', 'test/native', 'test/fuzz', 'bench'];

function sources(folder) {
  const names = readdirSync(join(root, folder), { recursive: true });
  return names.filter((name) => /(?<!\.gen)\.(cc|h)$/.test(name)).map((name) => join(folder, name));
}

const { clangFormatPath } = createRequire(import.meta.url)('clang-format-node');
const mode = isGiven('check') ? ['--dry-run', '--Werror'] : ['-i'];
must('clang-format', clangFormatPath, [...mode, ...FOLDERS.flatMap(sources)]);
