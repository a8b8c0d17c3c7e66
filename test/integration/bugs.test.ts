// A bug of the control plane, wherever it is, ends no traffic. A module that is loaded before the command
// throws, when it is sent a signal, where nobody catches.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { says, webBootstrap } from './support/bootstraps.js';
import { makeFolder, runCommand, startProxy } from './support/start-proxy.js';

const THROWING = `
process.on('SIGUSR2', () => { throw new Error('lost here'); });
process.on('SIGWINCH', () => void Promise.reject(new Error('lost there')));
`;
const THROWING_AT_ONCE = `setImmediate(() => { throw new Error('lost at once'); });`;

/** Commands that are started until the function that comes back is called load this first. */
function preload(folder: string, code: string): () => void {
  const path = join(folder, 'preload.cjs');
  writeFileSync(path, code);
  process.env.NODE_OPTIONS = `--require=${path}`;
  return () => delete process.env.NODE_OPTIONS;
}

test('what is thrown while the proxy serves is logged and counted, and it serves on', async (t) => {
  const stopLoading = preload(makeFolder(t), THROWING);
  t.after(stopLoading);
  const proxy = await startProxy(t, webBootstrap([says('/', 'yes')], {}));
  const web = await proxy.listenerUrl('web');
  await proxy.command.says(/starting main dispatch loop/);

  proxy.command.process.kill('SIGUSR2');
  await proxy.command.says(/\[error\].*envoy bug failure: in the process: Error: lost here/);
  proxy.command.process.kill('SIGWINCH');
  await proxy.command.says(/envoy bug failure: in the process: Error: lost there/);

  assert.equal(await (await fetch(web)).text(), 'yes');
  const stats = await (await fetch(`${proxy.adminUrl}/stats?filter=bug_failures`)).text();
  assert.equal(stats, 'server.envoy_bug_failures: 2\n');
  assert.equal((await proxy.command.end()).code, 0);
});

test('what is thrown before anything is served ends the start, with its stack in the log', async (t) => {
  const stopLoading = preload(makeFolder(t), THROWING_AT_ONCE);
  t.after(stopLoading);
  const bootstrap = JSON.stringify(webBootstrap([says('/', 'yes')], {}));
  const { code, stderr } = await runCommand(
    ...([t, '--config-yaml', bootstrap, '--use-dynamic-base-id'] as const),
  );

  assert.equal(code, 1, stderr);
  assert.match(stderr, /lost at once/);
});
