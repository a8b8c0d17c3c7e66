// The versions of Node that package.json promises, for tests: the one that runs this, and the others from
// npm, in a cache of the user's own.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { say } from './set-up.mjs';

export const MAJORS = [20, 22, 24];

const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');

/** The path of a Node's program; installs it where it is not there. */
export function nodeOf(major) {
  if (majorOf(process.execPath) === major) return process.execPath;
  const folder = join(cache, 'fairlead', 'node', String(major));
  const name = `node-linux-${process.arch}`;
  const program = join(folder, 'node_modules', name, 'bin', 'node');
  if (majorOf(program) === major) return program;
  say(`installing Node ${major} (${name}) into ${folder}`);
  mkdirSync(folder, { recursive: true });
  const options = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund'];
  execFileSync('npm', ['install', '--prefix', folder, ...options, `${name}@${major}`], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return program;
}

/** Undefined: it does not run. */
function majorOf(program) {
  const { stdout } = spawnSync(program, ['-p', 'process.versions.node'], { encoding: 'utf8' });
  return stdout ? Number(stdout.split('.')[0]) : undefined;
}
