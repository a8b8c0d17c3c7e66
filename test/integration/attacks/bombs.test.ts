// Little that becomes much: heads, cookies, compressed bodies.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { TYPE, FILTER, startOrigin, startBefore, get } from './setting.js';

test('bombs of headers and cookies are refused before anything is made of them', async (t) => {
  const origin = await startOrigin(t, () => ({}));
  const send = await startBefore(t, { origins: { origin: origin.port } });
  const bombs = {
    'a header of 100 KiB': get('/', `x-a: ${'a'.repeat(100_000)}`),
    'a cookie of 100 KiB': get('/', `cookie: a=${'b'.repeat(100_000)}`),
    '2,000 headers': get('/', ...Array.from({ length: 2000 }, (_, i) => `x-${i}: 1`)),
    '2,000 cookies': get('/', ...Array.from({ length: 2000 }, (_, i) => `cookie: c${i}=1`)),
    'a path of 100 KiB': get(`/${'a'.repeat(100_000)}`),
  };
  for (const [name, bytes] of Object.entries(bombs)) {
    assert.equal((await send(bytes)).status, 431, name);
  }
  assert.equal((await send(get('/'))).status, 200);
  assert.equal(origin.asked.length, 1);
});

test('a compression bomb is no larger than what may be kept of it', async (t) => {
  const origin = await startOrigin(t, () => ({}));
  const gzip = { '@type': `${TYPE}.compression.gzip.decompressor.v3.Gzip` };
  const brotli = { '@type': `${TYPE}.compression.brotli.decompressor.v3.Brotli` };
  const send = await startBefore(t, {
    origins: { origin: origin.port },
    filters: [
      {
        name: 'decompressor',
        typed_config: {
          '@type': `${FILTER}.decompressor.v3.Decompressor`,
          decompressor_library: { name: 'gzip', typed_config: gzip },
        },
      },
      {
        name: 'brotli',
        typed_config: {
          '@type': `${FILTER}.decompressor.v3.Decompressor`,
          decompressor_library: { name: 'brotli', typed_config: brotli },
        },
      },
      {
        name: 'buffer',
        typed_config: { '@type': `${FILTER}.buffer.v3.Buffer`, max_request_bytes: 65_536 },
      },
    ],
  });
  const post = (coding: string, body: Buffer) =>
    Buffer.concat([
      Buffer.from(
        `POST / HTTP/1.1\r\nhost: good.test\r\ncontent-encoding: ${coding}\r\ncontent-length: ${body.length}\r\n\r\n`,
      ),
      body,
    ]);
  const zeros = Buffer.alloc(64 << 20);
  assert.equal((await send(post('gzip', gzipSync('small')))).status, 200);
  assert.equal((await send(post('br', brotliCompressSync('small')))).status, 200);
  assert.equal((await send(post('gzip', gzipSync(zeros)))).status, 413);
  // What of it is larger than a hundred times what came is left out.
  const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
  assert.equal((await send(post('br', brotliCompressSync(zeros, fast)))).status, 413);
  const bomb = brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
  await send(post('br', bomb));
  for (const { bodyBytes } of origin.asked) assert.ok(bodyBytes < 65_536, `${bodyBytes} bytes`);
});
