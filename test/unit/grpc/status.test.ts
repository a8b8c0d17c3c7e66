import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isServerFault, statusIn, statusOfHttp, statusText } from '../../../src/grpc/status.js';

test('a status is read with its message, and a number nobody knows is UNKNOWN', () => {
  assert.deepEqual(statusIn({ 'grpc-status': '14', 'grpc-message': 'try%20later' }), {
    code: 'UNAVAILABLE',
    message: 'try later',
  });
  assert.deepEqual(statusIn({ 'grpc-status': '0' }), { code: 'OK', message: '' });
  assert.equal(statusIn({ 'grpc-status': '99' })?.code, 'UNKNOWN');
  assert.equal(statusIn({ 'grpc-status': '3', 'grpc-message': '%zz' })?.message, '%zz');
  assert.equal(statusIn({}), undefined);
});

test('answers that are not of gRPC have the codes of its table', () => {
  const codes = [400, 401, 403, 404, 429, 502, 503, 504, 500].map((s) => statusOfHttp(s).code);
  assert.deepEqual(codes, [
    'INTERNAL',
    'UNAUTHENTICATED',
    'PERMISSION_DENIED',
    'UNIMPLEMENTED',
    'UNAVAILABLE',
    'UNAVAILABLE',
    'UNAVAILABLE',
    'UNAVAILABLE',
    'UNKNOWN',
  ]);
  assert.equal(statusText(statusOfHttp(503)), 'UNAVAILABLE: HTTP status 503');
});

test('only what is the fault of the server is an error of its host', () => {
  assert.ok(isServerFault({ code: 'UNIMPLEMENTED', message: '' }));
  assert.ok(!isServerFault({ code: 'OK', message: '' }));
  assert.ok(!isServerFault({ code: 'INVALID_ARGUMENT', message: '' }));
});
