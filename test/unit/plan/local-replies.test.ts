import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccessLogFilter_Kind } from '../../../src/plan/plan.gen.js';
import {
  compileOneRoute,
  compileStatic,
  connectionManager,
  issuesOf,
  listenerOf,
} from './helpers.js';

function repliesOf(local_reply_config: object) {
  const compiled = compileStatic({
    listeners: [listenerOf(connectionManager({}, { local_reply_config }))],
  });
  const http = compiled.update.listeners?.[0]?.filter_chains?.[0]?.http;
  return { issues: issuesOf(compiled), replies: http?.local_replies };
}

test('a mapper has a filter, and what it changes', () => {
  const { issues, replies } = repliesOf({
    mappers: [
      {
        filter: { status_code_filter: { comparison: { op: 'EQ', value: { default_value: 404 } } } },
        status_code: 410,
        body: { inline_string: 'gone' },
        headers_to_add: [{ header: { key: 'X-A', value: '%RESPONSE_CODE%' } }],
      },
    ],
  });
  assert.deepEqual(issues, []);
  const [mapper] = replies?.mappers ?? [];
  assert.equal(mapper?.filter?.kind, AccessLogFilter_Kind.STATUS);
  assert.equal(mapper.status, 410);
  assert.equal(Buffer.from(mapper.body ?? []).toString(), 'gone');
  assert.equal(mapper.headers?.[0]?.name, 'x-a');
  assert.equal(replies?.format, undefined);
});

test('a body is called by what its format is, unless the configuration says otherwise', () => {
  const typeOf = (body_format: object) => repliesOf({ body_format }).replies?.format?.content_type;
  assert.equal(typeOf({ text_format_source: { inline_string: 'x' } }), 'text/plain');
  assert.equal(typeOf({ json_format: { a: 'x' } }), 'application/json');
  assert.equal(typeOf({ json_format: { a: 'x' }, content_type: 'text/html' }), 'text/html');
});

test('a direct response may have a format', () => {
  const { issues, route } = compileOneRoute({
    direct_response: { status: 200, body_format: { json_format: { a: '%PROTOCOL%' } } },
  });
  assert.deepEqual(issues, []);
  assert.equal(route?.direct_response?.format?.content_type, 'application/json');
});
