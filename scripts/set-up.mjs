// What the scripts share: where the package is, how a step runs, and what a fresh clone needs first.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** A line of progress. On stderr: what the proxy itself says is on stdout. */
export function say(text) {
  console.error(`fairlead: ${text}`);
}

/** Runs a command in the package; ends this process when it fails. */
export function must(what, command, args, options = {}) {
  mustHaveEnded(what, spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options }));
}

/** Ends this process, having said why, where that one has not ended well. */
export function mustHaveEnded(what, { status, signal, error }) {
  if (status === 0) return;
  const why = error?.message ?? (signal ? `signal ${signal}` : `exit code ${status}`);
  say(`${what} failed: ${why}`);
  process.exit(status || 1);
}

/** The same for a script of Node's: a path below the package, and its arguments. */
export function mustNode(what, script, ...args) {
  must(what, process.execPath, [script, ...args]);
}

/** Installs dependencies where there are none, and builds what is not up to date. */
export function setUp() {
  if (!existsSync(join(root, 'node_modules', '.package-lock.json'))) {
    say('installing dependencies (npm ci)');
    // Its install and prepare scripts build everything; what they say is shown.
    must('npm ci', 'npm', [
      'ci',
      '--no-audit',
      '--no-fund',
      '--foreground-scripts',
      '--loglevel=error',
    ]);
  }
  mustNode('the build', 'scripts/build.mjs');
}
