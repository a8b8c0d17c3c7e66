// What uWebSockets.js keeps of connections that it closed: nothing, as long as no answer ends in an
// immediate, where it leaks about 500 bytes for each.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pageOf } from '../../support/fake-native.js';
import { listening } from './running.js';

/** Of the connections of one round. The first is not counted: memory grows for other reasons then. */
const CONNECTIONS = 10_000;
/** At most: the first that leaves nothing shows it. */
const ROUNDS = 4;
/** A quarter of what the leak would come to in every round; anything else grows only in some. */
const MAX_GROWTH_BYTES = (CONNECTIONS * 500) / 4;

/** Connects again and again, some at a time; each asks for one page and is closed by the server. */
const CLIENT = `
const { connect } = require('node:net');
const [port, count] = process.argv.slice(1).map(Number);
let begun = 0;
function next() {
  if (begun++ >= count) return;
  const socket = connect(port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\\r\\nhost: a\\r\\nconnection: close\\r\\n\\r\\n');
  let bytes = 0;
  socket.on('data', (piece) => (bytes += piece.length));
  socket.on('close', () => (bytes > 3000 ? next() : process.exit(1)));
}
for (let i = 0; i < 32; i++) next();
`;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

async function ask(port: number, count: number): Promise<number> {
  const args = ['-e', CLIENT, String(port), String(count)];
  const client = spawn(process.execPath, args, { stdio: 'inherit' });
  const [code] = (await once(client, 'exit')) as [number];
  assert.equal(code, 0, 'an answer was cut');
  for (let times = 0; times < 3; times += 1) {
    collectGarbage();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return process.memoryUsage.rss();
}

test('connections that end after a long page leave no memory behind', async (t) => {
  const running = listening(t, 'uWebSockets.js');
  if (!running) return;
  const { service, port } = running;
  // Not in one go: its pieces are written in the turns that all pages share.
  const pieces = Array.from({ length: 4 }, () => 'x'.repeat(1000));
  service.answer = () => ({ body: pageOf(...pieces) });
  service.finished = () => undefined;
  service.connectionClosed = () => undefined;

  const growths: number[] = [];
  let before = await ask(port, CONNECTIONS);
  for (let round = 0; round < ROUNDS; round += 1) {
    const rss = await ask(port, CONNECTIONS);
    growths.push(rss - before);
    before = rss;
    if (growths.some((bytes) => bytes < MAX_GROWTH_BYTES)) return;
  }
  assert.fail(
    `each ${CONNECTIONS} took ${growths.map((bytes) => bytes / 2 ** 20).join()} MiB more`,
  );
});
