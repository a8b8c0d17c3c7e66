// npm start: builds what is missing, then runs the command with the arguments given, or, without any,
// a demo: a listener, an admin server, and a small origin behind them.
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { root, setUp } from './set-up.mjs';

const ORIGIN_PORT = 10080;

function startOrigin() {
  const origin = createServer((request, response) => {
    response.setHeader('content-type', 'text/plain');
    response.end(`Hello from the origin behind fairlead.\nYou asked for ${request.method} ${request.url}.\n`);
  });
  return new Promise((resolve, reject) => {
    origin.once('error', (error) => reject(new Error(`the demo's origin cannot listen on 127.0.0.1:${ORIGIN_PORT}: ${error.message}`)));
    origin.listen(ORIGIN_PORT, '127.0.0.1', () => resolve(origin));
  });
}

setUp();
const given = process.argv.slice(2);
const isDemo = given.length === 0;
const origin = isDemo ? await startOrigin() : undefined;
const args = isDemo ? ['-c', 'examples/demo.yaml', '-l', 'warning'] : given;
const proxy = spawn(process.execPath, [`${root}/dist/cli.js`, ...args], { cwd: isDemo ? root : process.cwd(), stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => proxy.kill(signal));
if (isDemo) {
  console.log(`
fairlead is running. Try:
  curl localhost:10000/                  through the proxy to the demo's origin
  curl localhost:9901/                   the admin home page (open it in a browser)
  curl localhost:9901/stats?usedonly     what was counted
  curl localhost:9901/clusters           the origin as the proxy sees it
Stop it with Ctrl-C. Your own bootstrap: npm start -- -c my.yaml
`);
}
proxy.on('exit', (code, signal) => {
  origin?.close();
  origin?.closeAllConnections();
  process.exit(signal ? 1 : (code ?? 1));
});
