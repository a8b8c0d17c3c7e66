import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logRequest } from '../../../../src/admin/http/access-log.js';
import type { AdminReply, AdminRequest, SentBytes } from '../../../../src/admin/http/http.js';

const REQUEST: AdminRequest = {
  method: 'POST',
  target: '/logging?level=info',
  rawHeaders: ['Host', 'localhost:9901', 'User-Agent', 'curl/8'],
  headers: {
    host: 'localhost:9901',
    origin: '',
    accept: '',
    'sec-fetch-site': '',
    'content-type': '',
    'user-agent': 'curl/8',
    'x-forwarded-for': '',
    'x-request-id': '',
  },
  body: 'abc',
  namesHost: true,
  asksToClose: false,
  beganMs: Date.now(),
  connection: {
    id: 7,
    remoteAddress: '127.0.0.1:1',
    localAddress: '127.0.0.1:2',
    receivedBytes: 9,
  },
};
const NO_HEAD = { ...REQUEST, method: '', target: '', rawHeaders: [], body: '' };
const SENT: SentBytes = { headers: [['server', 'envoy']], ofBody: 2, onWire: 30, isCut: false };

/** What of these texts the data plane is told, in the order of its message. */
function told(
  texts: readonly string[],
  request: AdminRequest,
  reply: AdminReply,
  sent: SentBytes = SENT,
): string[] {
  let bytes = '';
  const native = {
    logAdminRequest: (given: Uint8Array) => (bytes = Buffer.from(given).toString('latin1')),
  };
  logRequest(native, request, reply, sent, '192.0.2.1');
  return texts.filter((text) => bytes.includes(text));
}

test('a request is told with its headers in lower case, and who it is passed on for', () => {
  const texts = ['POST', '/logging?level=info', 'localhost:9901', 'user-agent', 'curl/8'];
  const more = ['x-forwarded-for', '192.0.2.1', 'server', 'envoy', 'admin_filter_response'];
  assert.deepEqual(told([...texts, ...more], REQUEST, { body: 'ok' }), [...texts, ...more]);
  assert.deepEqual(told(['Host', 'User-Agent'], REQUEST, { body: 'ok' }), []);
});

test('an x-forwarded-for that came is gone on with', () => {
  const headers = { ...REQUEST.headers, 'x-forwarded-for': '198.51.100.7' };
  const text = '198.51.100.7,192.0.2.1';
  assert.deepEqual(told([text], { ...REQUEST, headers }, { body: '' }), [text]);
});

test('what no page was looked for has its reason, and nothing of ours', () => {
  for (const [fault, details] of [
    ['host', 'missing_host_header'],
    ['path', 'path_normalization_failed'],
    ['elsewhere', 'absolute_path_rejected'],
  ] as const) {
    const reply = { status: 400, body: '', fault };
    assert.deepEqual(told([details, 'x-forwarded-for'], REQUEST, reply), [details]);
  }
  const malformed: AdminReply = { status: 400, body: 'no', fault: 'protocol' };
  const texts = ['http1.codec_error', 'x-forwarded-for'];
  assert.deepEqual(told(texts, NO_HEAD, malformed), ['http1.codec_error']);
  // Its head was read.
  assert.deepEqual(told(texts, REQUEST, malformed).sort(), texts);
});

test('a client that left is told of as one', () => {
  const details = 'downstream_remote_disconnect';
  const cut = { ...SENT, isCut: true };
  assert.deepEqual(told([details], REQUEST, { body: 'ok' }, cut), [details]);
  assert.deepEqual(told([details], NO_HEAD, { status: 0, body: '' }, cut), [details]);
});
