import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const TYPE = 'envoy.extensions.filters.http.cdn_loop.v3.CdnLoopConfig';
const loop = (cdn_id: string) => [
  { name: 'c', typed_config: any(TYPE, { cdn_id, max_allowed_occurrences: 2 }) },
];

test('a CDN is a host, with or without a port, or a word', () => {
  for (const id of ['a', 'cdn.test:80', '[::1]', "!#$%&'*+-.^_`|~"]) {
    const result = compiled(loop(id));
    assert.deepEqual(result.issues, []);
    assert.deepEqual(result.filters?.[0]?.cdn_loop, { id, most_occurrences: 2 });
  }
  for (const id of ['a b', 'a;', '[', 'a/b', '"a"']) {
    assert.match(compiled(loop(id)).issues.join(), /is not a valid CDN identifier/);
  }
});

test('a limit of bodies is what it says, or none', () => {
  const type = 'envoy.extensions.filters.http.body_size_limit.v3.BodySizeLimit';
  const of = (fields: object) => compiled([{ name: 'b', typed_config: any(type, fields) }]);
  assert.deepEqual(of({ max_request_bytes: 5 }).filters?.[0]?.body_size_limit, {
    max_request_bytes: 5,
  });
  assert.equal(of({}).filters?.[0]?.body_size_limit?.max_request_bytes, undefined);
});
