// fairlead as it was before a change, beside what it has become: FAIRLEAD_BENCH_BEFORE names the
// dist/cli.js of the other build. It takes part only where that is set.
import { existsSync } from 'node:fs';
import { startCommand } from './fairlead.mjs';

export const name = 'before';

const command = process.env.FAIRLEAD_BENCH_BEFORE;

export function missing() {
  if (command === undefined) return 'FAIRLEAD_BENCH_BEFORE does not name another build';
  return existsSync(command) ? undefined : `${command} (FAIRLEAD_BENCH_BEFORE) does not exist`;
}

export function version() {
  return 'FAIRLEAD_BENCH_BEFORE';
}

export function start(options) {
  return startCommand(command, options);
}
