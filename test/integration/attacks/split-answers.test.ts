// Bytes that would end a line of an answer, and begin another.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toCluster } from '../support/bootstraps.js';
import { TYPE, FILTER, startOrigin, startBefore, get } from './setting.js';

test('nothing of a request ends a line of an answer', async (t) => {
  const origin = await startOrigin(t, () => ({}));
  const send = await startBefore(t, {
    origins: { origin: origin.port },
    routes: [
      { match: { prefix: '/moved' }, redirect: { prefix_rewrite: '/to' } },
      {
        ...toCluster('/', 'origin'),
        response_headers_to_add: [{ header: { key: 'x-said', value: '%REQ(x-say)%' } }],
      },
    ],
  });
  const split = 'a\r\nset-cookie: evil=1';
  const encoded = encodeURIComponent(split);
  const moved = await send(get(`/moved/${encoded}?${encoded}`));
  assert.equal(moved.status, 301);
  assert.doesNotMatch(moved.head, /^set-cookie/im);
  assert.doesNotMatch((await send(get('/', `x-say: ${encoded}`))).head, /^set-cookie/im);
  for (const odd of ['a\rset-cookie: evil=1', 'a\nset-cookie: evil=1', 'a\u0000b']) {
    const answer = await send(get('/', `x-say: ${odd}`));
    assert.equal(answer.status, 400, JSON.stringify(odd));
    assert.doesNotMatch(answer.head, /^set-cookie/im);
  }
  for (const odd of [`/moved/a\rset-cookie:evil`, `/moved/a\u0000b`]) {
    assert.doesNotMatch((await send(get(odd))).head, /^set-cookie/im);
  }
});

test('nothing that clients say in other ways ends a line either', async (t) => {
  const origin = await startOrigin(t, ({ headers }) => ({
    body: JSON.stringify({ evil: headers['x-evil'] ?? null, state: headers['x-state'] ?? null }),
  }));
  const told = (key: string): object => ({
    header: { key: `x-${key}`, value: `%DYNAMIC_METADATA(told:${key})%` },
  });
  const send = await startBefore(t, {
    origins: { origin: origin.port },
    filters: [
      {
        name: 'json',
        typed_config: {
          '@type': `${FILTER}.json_to_metadata.v3.JsonToMetadata`,
          request_rules: {
            rules: [
              {
                selectors: [{ key: 'a' }],
                on_present: { metadata_namespace: 'told', key: 'body' },
              },
            ],
          },
        },
      },
      {
        name: 'header',
        typed_config: {
          '@type': `${FILTER}.header_to_metadata.v3.Config`,
          request_rules: [
            {
              header: 'x-coded',
              on_header_present: { metadata_namespace: 'told', key: 'coded', encode: 'BASE64' },
            },
          ],
        },
      },
      {
        name: 'session',
        typed_config: {
          '@type': `${FILTER}.stateful_session.v3.StatefulSession`,
          session_state: {
            name: 'envoy.http.stateful_session.envelope',
            typed_config: {
              '@type': `${TYPE}.http.stateful_session.envelope.v3.EnvelopeSessionState`,
              header: { name: 'x-state' },
            },
          },
        },
      },
    ],
    routes: [
      {
        ...toCluster('/', 'origin'),
        request_headers_to_add: [told('body'), told('coded')],
        response_headers_to_add: [told('body'), told('coded')],
      },
    ],
  });
  const evil = 'a\r\nx-evil: 1\r\nset-cookie: evil=1';
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const body = JSON.stringify({ a: evil });
  const lines = ['content-type: application/json', `content-length: ${body.length}`];
  const answers = [
    await send(get('/', ...lines) + body),
    await send(get('/', `x-coded: ${base64(evil)}`)),
    await send(get('/', `x-state: ${base64(`127.0.0.1:${origin.port}`)};UV:${base64(evil)}`)),
  ];
  for (const { status, head, body: seen } of answers) {
    assert.equal(status, 200);
    assert.doesNotMatch(head, /^(set-cookie|x-evil)/im);
    assert.equal((JSON.parse(seen) as { evil: unknown }).evil, null);
  }
  assert.match(answers[0]?.head ?? '', /^x-body: a {2}x-evil: 1 {2}set-cookie: evil=1$/m);
  assert.match(answers[1]?.head ?? '', /^x-coded: a {2}x-evil: 1 {2}set-cookie: evil=1$/m);
});
