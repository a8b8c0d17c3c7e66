// Keeps what V8 compiles while the command starts: dist/command.cache, which src/launch.cts reads.
//   node scripts/code-cache.mjs
// Without it, or with that of another Node, a start takes longer and does the same.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './set-up.mjs';

const launcher = join(root, 'dist', 'cli.js');
const cache = join(root, 'dist', 'command.cache');

/** The example, on ports of the kernel's choice. */
function writeBootstrap(bootstrap) {
  const example = readFileSync(join(root, 'examples', 'demo.yaml'), 'utf8');
  writeFileSync(bootstrap, example.replaceAll(/port_value: \d+/g, 'port_value: 0'));
}

/** Starts until LIVE once, in this process: the functions that this calls are kept compiled. */
function start() {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-code-cache-'));
  const bootstrap = join(folder, 'demo.yaml');
  writeBootstrap(bootstrap);
  // Beside any proxy that runs on this machine.
  const options = ['--mode', 'init_only', '--concurrency', '1', '-l', 'critical'];
  options.push('--use-dynamic-base-id');
  process.argv = [process.execPath, launcher, '-c', bootstrap, ...options];
  const script = createRequire(import.meta.url)(launcher);
  process.on('exit', () => {
    rmSync(folder, { recursive: true, force: true });
    writeFileSync(cache, script.createCachedData());
    // Where it could not start (it has said why), what it has compiled until then is as good.
    process.exitCode = 0;
  });
}

// An installed package has been built elsewhere; a fresh clone is not built yet.
if (existsSync(launcher)) {
  rmSync(cache, { force: true });
  start();
}
