// Peers that read slowly or not at all, and bodies larger than any memory for them: what the proxy
// holds stays within its buffer limits, and every byte arrives.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { httpBootstrap, tcpBootstrap } from './bootstrap.js';
import { runProxy, type RunningProxy } from './running-proxy.js';
import { connectSocket, get, startRawOrigin } from './sockets.js';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const CHUNK = Buffer.alloc(MIB, 'x');

/** What buffers of 1 MiB a side, pipes, slabs and a few pages of statistics may come to. */
const ALLOWED_GROWTH_BYTES = 24 * MIB;

/** Writes `count` bytes, never more than the socket takes. Resolves when all are handed over. */
async function pour(socket: Socket, count: number): Promise<void> {
  for (let left = count; left > 0 && !socket.destroyed; left -= CHUNK.length) {
    const piece = left < CHUNK.length ? CHUNK.subarray(0, left) : CHUNK;
    if (!socket.write(piece)) await new Promise((resolve) => socket.once('drain', resolve));
  }
}

/** Counts what comes after the head. */
function countBody(socket: Socket, onCount: (count: number) => void): void {
  let head = '';
  let count = -1;
  socket.on('data', (bytes: Buffer) => {
    if (count < 0) {
      head += bytes.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      count = head.length - end - 4;
    } else {
      count += bytes.length;
    }
    onCount(count);
  });
}

function bodyCounted(socket: Socket, expected: number): Promise<void> {
  return new Promise((resolve, reject) => {
    countBody(socket, (count) => {
      if (count === expected) resolve();
      if (count > expected) reject(new Error(`${count} bytes of ${expected}`));
    });
    socket.on('close', () => reject(new Error('closed before the body was complete')));
  });
}

/** The largest resident memory while `work` runs. */
async function peakDuring(proxy: RunningProxy, work: Promise<unknown>): Promise<number> {
  let peak = 0;
  const sampler = setInterval(() => (peak = Math.max(peak, proxy.residentBytes())), 20);
  try {
    await work;
  } finally {
    clearInterval(sampler);
  }
  return Math.max(peak, proxy.residentBytes());
}

test('a download of 1 GiB passes through bounded memory', async (t) => {
  const origin = await startRawOrigin(t, (socket) => {
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${GIB}\r\n\r\n`);
      void pour(socket, GIB);
    });
  });
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port] }));
  const client = await connectSocket(t, proxy.port);
  const before = proxy.residentBytes();

  client.write(get('/'));
  const peak = await peakDuring(proxy, bodyCounted(client, GIB));

  assert.ok(peak - before < ALLOWED_GROWTH_BYTES, `grew by ${(peak - before) / MIB} MiB`);
  assert.equal(await proxy.stat('http.web.downstream_rq_2xx'), 1);
});

test('an upload of 1 GiB passes through bounded memory', async (t) => {
  const origin = await startRawOrigin(t, (socket) => {
    void bodyCounted(socket, GIB).then(() => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ndone');
    });
  });
  const proxy = await runProxy(
    t,
    httpBootstrap({ origins: [origin.port], route: { timeout: '0s' } }),
  );
  const client = await connectSocket(t, proxy.port);
  const before = proxy.residentBytes();

  const answered = bodyCounted(client, 4);
  client.write(`POST / HTTP/1.1\r\nhost: test\r\ncontent-length: ${GIB}\r\n\r\n`);
  void pour(client, GIB);
  const peak = await peakDuring(proxy, answered);

  assert.ok(peak - before < ALLOWED_GROWTH_BYTES, `grew by ${(peak - before) / MIB} MiB`);
});

test('a client that does not read makes the origin wait, and misses nothing once it reads', async (t) => {
  const size = 256 * MIB;
  let poured = false;
  const origin = await startRawOrigin(t, (socket) => {
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`);
      void pour(socket, size).then(() => (poured = true));
    });
  });
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port] }));
  const client = await connectSocket(t, proxy.port);
  const before = proxy.residentBytes();

  client.pause();
  client.write(get('/'));
  // Nothing tells that something does not happen any more: half a second is what it has.
  const peak = await peakDuring(proxy, sleep(500));
  const pouredBeforeReading = poured;
  const complete = bodyCounted(client, size);
  client.resume();
  await complete;

  assert.equal(pouredBeforeReading, false);
  assert.ok(peak - before < ALLOWED_GROWTH_BYTES, `grew by ${(peak - before) / MIB} MiB`);
});

test('a client that does not read its chunked answer makes the origin wait, too', async (t) => {
  const chunk = `${(64 * 1024).toString(16)}\r\n${'x'.repeat(64 * 1024)}\r\n`;
  let sent = 0;
  const origin = await startRawOrigin(t, (socket) => {
    const answer = async (): Promise<void> => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      for (sent = 0; sent < 4096 && !socket.destroyed; ++sent) {
        if (!socket.write(chunk)) await new Promise((resolve) => socket.once('drain', resolve));
      }
      socket.write('0\r\n\r\n');
    };
    socket.once('data', () => void answer());
  });
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port] }));
  const client = await connectSocket(t, proxy.port);
  const before = proxy.residentBytes();

  client.pause();
  client.write(get('/'));
  const peak = await peakDuring(proxy, sleep(500));
  const sentBeforeReading = sent;
  client.resume();
  let tail = '';
  await new Promise<void>((resolve) => {
    client.on('data', (bytes: Buffer) => {
      tail = (tail + bytes.toString('latin1')).slice(-5);
      if (tail === '0\r\n\r\n') resolve();
    });
  });

  assert.ok(sentBeforeReading < 4096, 'the origin was never held back');
  assert.ok(peak - before < ALLOWED_GROWTH_BYTES, `grew by ${(peak - before) / MIB} MiB`);
});

test('an origin that does not read makes the uploading client wait', async (t) => {
  const origin = await startRawOrigin(t, (socket) => {
    socket.pause();
  });
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port] }));
  const client = await connectSocket(t, proxy.port);
  const before = proxy.residentBytes();
  let poured = false;

  client.write(`POST / HTTP/1.1\r\nhost: test\r\ncontent-length: ${256 * MIB}\r\n\r\n`);
  void pour(client, 256 * MIB).then(() => (poured = true));
  const peak = await peakDuring(proxy, sleep(500));

  assert.equal(poured, false);
  assert.ok(peak - before < ALLOWED_GROWTH_BYTES, `grew by ${(peak - before) / MIB} MiB`);
});

test('TCP: 1 GiB passes through bounded memory, and both ends agree how much it was', async (t) => {
  const origin = await startRawOrigin(t, (socket) => {
    void pour(socket, GIB).then(() => socket.end());
  });
  const proxy = await runProxy(t, tcpBootstrap({ origins: [origin.port] }));
  const before = proxy.residentBytes();
  const client = await connectSocket(t, proxy.port);
  let count = 0;
  client.on('data', (bytes: Buffer) => (count += bytes.length));

  const peak = await peakDuring(proxy, new Promise((resolve) => client.once('end', resolve)));
  client.end();

  assert.equal(count, GIB);
  assert.ok(peak - before < ALLOWED_GROWTH_BYTES, `grew by ${(peak - before) / MIB} MiB`);
  await proxy.statBecomes('tcp.relay.downstream_cx_tx_bytes_total', GIB);
});
