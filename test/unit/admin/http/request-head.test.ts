import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  asksToClose,
  findHeadFault,
  statusOfParseError,
  type Head,
} from '../../../../src/admin/http/request-head.js';

const head = (parts: Partial<Head>): Head => ({
  method: 'GET',
  url: '/',
  httpVersion: '1.1',
  headers: { host: 'a:1' },
  rawHeaders: ['host', 'a:1'],
  ...parts,
});

test('a head has the status that the real server refuses it with, or none', () => {
  for (const [parts, status] of [
    [{}, undefined],
    [{ url: '*' }, undefined],
    [{ url: 'HTTP://b/ready' }, undefined],
    [{ headers: {} }, undefined],
    [{ headers: { host: '' } }, undefined],
    [{ headers: { host: '[::1]:9901' } }, undefined],
    [{ headers: { host: 'a b' } }, 400],
    [{ headers: { host: 'a/b' } }, 400],
    [{ method: 'QUERY' }, 400],
    [{ url: 'ready' }, 400],
    [{ url: '/r\u00e9ady' }, 400],
    [{ httpVersion: '1.0' }, 426],
    [{ rawHeaders: Array.from({ length: 200 }, () => 'x') }, undefined],
    [{ rawHeaders: Array.from({ length: 202 }, () => 'x') }, 431],
    [{ headers: { 'transfer-encoding': 'Chunked' } }, undefined],
    [{ headers: { 'transfer-encoding': 'gzip, chunked' } }, 501],
  ] as const) {
    assert.equal(findHeadFault(head(parts as Partial<Head>)), status, JSON.stringify(parts));
  }
});

test('what cannot be read has the status of why', () => {
  for (const [code, reason, status] of [
    ['HPE_HEADER_OVERFLOW', 'Header overflow', 431],
    ['HPE_INVALID_VERSION', 'Invalid HTTP version', 426],
    ['HPE_INVALID_VERSION', 'Expected CRLF after version', 400],
    ['ERR_HTTP_REQUEST_TIMEOUT', undefined, 408],
    ['HPE_INVALID_TRANSFER_ENCODING', 'Request has invalid `Transfer-Encoding`', 501],
    [
      'HPE_INVALID_TRANSFER_ENCODING',
      "Transfer-Encoding can't be present with Content-Length",
      400,
    ],
    ['HPE_INVALID_CONSTANT', 'Expected HTTP/', 400],
    [undefined, undefined, 400],
  ] as const) {
    assert.equal(statusOfParseError(code, reason), status, reason);
  }
});

test('a client asks to close by a token of connection, or of proxy-connection', () => {
  const asks = (headers: Head['headers']): boolean => asksToClose(head({ headers }));
  assert.deepEqual(
    [{ connection: 'x, Close' }, { 'proxy-connection': 'close' }, {}, { connection: 'closed' }].map(
      asks,
    ),
    [true, true, false, false],
  );
});
