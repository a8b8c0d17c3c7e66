// What the README's two commands do first on a fresh clone: install dependencies, build what is missing.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Runs a command in the package; ends the process when it fails. */
export function must(what, command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  if (result.status === 0) return;
  console.error(`fairlead: ${what} failed`);
  process.exit(result.status ?? 1);
}

export function setUp() {
  if (!existsSync(join(root, 'node_modules', '.package-lock.json'))) {
    console.error('fairlead: installing dependencies (npm ci)');
    // Its install and prepare scripts build everything.
    must('npm ci', 'npm', ['ci', '--no-audit', '--no-fund', '--foreground-scripts', '--loglevel', 'error']);
  }
  must('the build', process.execPath, ['scripts/build.mjs']);
}
