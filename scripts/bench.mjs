// The benchmarks: node scripts/bench.mjs run|compare|filters|scale|updates|discovery|admin|restart|micro
// [options]. See bench/README.md.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../bench/support/paths.mjs';

const KINDS = {
  async run(args) {
    return (await import('../bench/run/main.mjs')).run(args);
  },
  async compare(args) {
    return (await import('../bench/compare/main.mjs')).compare(args);
  },
  async filters(args) {
    return (await import('../bench/filters/main.mjs')).filters(args);
  },
  async scale(args) {
    return (await import('../bench/scale/start.mjs')).scale(args);
  },
  async updates(args) {
    return (await import('../bench/updates/main.mjs')).updates(args);
  },
  async discovery(args) {
    return (await import('../bench/discovery/main.mjs')).discovery(args);
  },
  async admin(args) {
    return (await import('../bench/admin/main.mjs')).admin(args);
  },
  async restart(args) {
    return (await import('../bench/restart/main.mjs')).restart(args);
  },
  micro(args) {
    const make = spawnSync('make', ['-C', join(root, 'native'), 'micro'], { stdio: 'inherit' });
    if (make.status !== 0) return make.status ?? 1;
    const program = join(root, 'build/native/release/fairlead-micro');
    return spawnSync(program, args, { stdio: 'inherit' }).status ?? 1;
  },
};

const [kind, ...args] = process.argv.slice(2);
if (!Object.hasOwn(KINDS, kind ?? '')) {
  console.error(`usage: node scripts/bench.mjs ${Object.keys(KINDS).join('|')} [options]`);
  process.exit(2);
}
process.exit(await KINDS[kind](args));
