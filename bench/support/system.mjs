// What the system offers.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The path of a program; also looked for where only root's PATH leads. */
export function findProgram(name) {
  const directories = [
    ...(process.env.PATH ?? '').split(delimiter),
    '/usr/sbin',
    '/usr/local/sbin',
  ];
  return directories.map((directory) => join(directory, name)).find((path) => existsSync(path));
}

/** How many descriptors a process of ours may have. */
export function descriptorLimit() {
  const hard = execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim();
  return hard === 'unlimited' ? 1_000_000 : Number(hard);
}
