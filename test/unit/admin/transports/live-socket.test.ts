// The WebSocket of /ui, over uWebSockets.js.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { WebSocket } from 'undici';
import { listening, type Running } from './running.js';

const open = ({ url }: Running): WebSocket => new WebSocket(`${url.replace('http', 'ws')}/ui/live`);

/** The next message; an error where the socket closes instead. */
async function next(socket: WebSocket): Promise<string> {
  return new Promise((resolve, reject) => {
    socket.addEventListener('message', ({ data }) => resolve(String(data)), { once: true });
    socket.addEventListener('close', ({ code, reason }) => reject(new Error(`${code} ${reason}`)), {
      once: true,
    });
  });
}

test('a WebSocket is told of pages, and counts as one request and one connection', async (t) => {
  const running = listening(t, 'uWebSockets.js');
  if (!running) return;
  const { service } = running;
  const socket = open(running);
  await once(socket, 'open');
  socket.send('{"id":3,"target":"/stats","everyMs":1}');

  assert.equal(await next(socket), '3 200\n/stats is well');
  assert.equal(await next(socket), '3');
  assert.deepEqual([service.requests.length, service.connections], [1, 1]);
  assert.equal(service.requests[0]?.target, '/ui/live');
  socket.close();
  await service.untilClosed();
  assert.equal(service.connections, 0);
  // The App that had it takes requests again.
  assert.equal(await (await fetch(running.url)).text(), 'hello');
});

test('a WebSocket that may not be opened is a request as any other', async (t) => {
  const running = listening(t, 'uWebSockets.js');
  if (!running) return;
  running.service.admitsSockets = false;
  const socket = open(running);
  await once(socket, 'error');

  assert.equal(running.service.requests.length, 2);
  assert.equal(running.service.finishedBytes.length, 1);
});

test('whoever asks for what cannot be is told so, and sent away', async (t) => {
  const running = listening(t, 'uWebSockets.js');
  if (!running) return;
  const socket = open(running);
  await once(socket, 'open');
  socket.send('nonsense');

  await assert.rejects(next(socket), /1008 expected \{"id": 1/);
  await running.service.untilClosed();
});

test('a WebSocket ends with the server', async (t) => {
  const running = listening(t, 'uWebSockets.js');
  if (!running) return;
  const socket = open(running);
  await once(socket, 'open');
  const closed = once(socket, 'close');
  running.close();

  await closed;
  assert.equal(running.service.connections, 0);
});
