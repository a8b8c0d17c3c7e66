// npm start: builds what is missing and runs the command with the arguments given; without any it runs
// a demo: a listener, a small origin behind it, and an admin server.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { root, setUp } from './set-up.mjs';

const ADMIN = 'http://127.0.0.1:9901';
const DEMO_ARGS = ['-c', join(root, 'examples', 'demo.yaml'), '-l', 'error'];
const GREETING = `
fairlead is running. Try, in another terminal:

  curl http://127.0.0.1:10000/                    through the proxy to the demo's origin
  curl '${ADMIN}/stats?usedonly'     what was counted
  curl ${ADMIN}/clusters             the origin as the proxy sees it
  ${ADMIN}/                          the admin page, for a browser

Ctrl-C ends it. With a bootstrap of yours: npm start -- -c bootstrap.yaml
`;

async function untilReady(proxy) {
  while (proxy.exitCode === null) {
    const ready = await fetch(`${ADMIN}/ready`).catch(() => undefined);
    if (ready?.ok) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

setUp();
const given = process.argv.slice(2);
const isDemo = given.length === 0;
const command = [join(root, 'dist', 'cli.js'), ...(isDemo ? DEMO_ARGS : given)];
const proxy = spawn(process.execPath, command, { stdio: 'inherit' });
// A terminal's Ctrl-C reaches the proxy too; this process ends after it.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => proxy.kill(signal));
proxy.on('exit', (code) => process.exit(code ?? 1));
if (isDemo && (await untilReady(proxy))) console.log(GREETING);
