import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { compileHttpService, type HttpServicePlan } from '../../../src/plan/http-service.js';
import type { Issue } from '../../../src/config/issues/issue.js';
import { Place } from '../../../src/plan/message/place.js';

function serviceWith(...options: readonly object[]): HttpServicePlan & { issues: string[] } {
  const issues: Issue[] = [];
  const service = compileHttpService({ request_headers_to_add: options }, Place.root(issues));
  return { ...service, issues: issues.map(({ message }) => message) };
}

const header = (value: string, more: object = {}): object => ({
  header: { key: 'X-A', value },
  ...more,
});

function valueOf(value: string): string | undefined {
  const { headers, issues } = serviceWith(header(value));
  assert.deepEqual(issues, []);
  return headers[0]?.[1];
}

test('formats tell what is so without a request, and a dash for the rest', () => {
  assert.equal(valueOf('a%REQ(x)%b'), 'a-b');
  assert.equal(valueOf('%PROTOCOL% %RESPONSE_CODE%/%BYTES_SENT%'), '- 0/0');
  assert.equal(valueOf('%ACCESS_LOG_TYPE% %DOWNSTREAM_DETECTED_CLOSE_TYPE%'), 'NotSet Normal');
  assert.equal(valueOf('100%%'), '100%');
  assert.equal(valueOf('%HOSTNAME%'), hostname());
});

test('of several operators the first that has a value without a request counts', () => {
  const first = (...operators: readonly string[]): string | undefined =>
    valueOf(`%COALESCE(${JSON.stringify({ operators })}):2%`);
  assert.equal(first('PROTOCOL', 'ACCESS_LOG_TYPE'), 'No');
  assert.equal(first('PROTOCOL'), '-');
});

test('what is another thing with each call is refused by its name', () => {
  for (const name of ['START_TIME', 'EMIT_TIME', 'UNIQUE_ID', 'DURATION']) {
    assert.match(serviceWith(header(`%${name}%`)).issues.join('\n'), new RegExp(`%${name}%`));
  }
  const coalesced = `%COALESCE(${JSON.stringify({ operators: ['PROTOCOL', 'UNIQUE_ID'] })})%`;
  assert.match(serviceWith(header(coalesced)).issues.join('\n'), /%UNIQUE_ID%/);
});

test('formats go before raw values, of each the last of a name, and nothing is kept as well', () => {
  const raw = (text: string): object => ({
    header: { key: 'x-a', raw_value: new TextEncoder().encode(text) },
  });
  const sent = (...options: readonly object[]): unknown => serviceWith(...options).headers;
  assert.deepEqual(sent(raw('a'), raw('%PROTOCOL%')), [['x-a', '%PROTOCOL%']]);
  assert.deepEqual(sent(header('a'), raw('b')), [['x-a', 'a']]);
  assert.deepEqual(sent(raw('a'), header('b'), header('c')), [['x-a', 'c']]);
  assert.deepEqual(sent(raw('a'), header('')), [['x-a', '']]);
  assert.deepEqual(sent(header('', { keep_empty_value: true })), [['x-a', '']]);
});

test('values are sent as UTF-8, and raw ones byte by byte', () => {
  assert.equal(valueOf('ä'), '\u00c3\u00a4');
  const option = { header: { key: 'x', raw_value: Uint8Array.of(0x61, 0xe4) } };
  assert.deepEqual(serviceWith(option).headers, [['x', 'a\u00e4']]);
});
