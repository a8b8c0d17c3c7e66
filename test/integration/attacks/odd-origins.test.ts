// Origins that look like those that may.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toCluster } from '../support/bootstraps.js';
import { FILTER, startOrigin, startBefore, get } from './setting.js';

test('no origin but those that may is told so, however much it looks like one', async (t) => {
  const origin = await startOrigin(t, () => ({}));
  const route = {
    ...toCluster('/', 'origin'),
    typed_per_filter_config: {
      cors: {
        '@type': `${FILTER}.cors.v3.CorsPolicy`,
        allow_origin_string_match: [
          { exact: 'https://good.test' },
          { safe_regex: { regex: 'https://[a-z]+\\.good\\.test' } },
        ],
        allow_credentials: true,
      },
    },
  };
  const send = await startBefore(t, {
    origins: { origin: origin.port },
    routes: [route],
    filters: [{ name: 'cors', typed_config: { '@type': `${FILTER}.cors.v3.Cors` } }],
  });
  const allowed = async (...origins: readonly string[]): Promise<string | undefined> =>
    /^access-control-allow-origin: (.*)$/im
      .exec((await send(get('/', ...origins.map((one) => `origin: ${one}`)))).head)?.[1]
      ?.trim();
  assert.equal(await allowed('https://good.test'), 'https://good.test');
  assert.equal(await allowed('https://a.good.test'), 'https://a.good.test');
  const tricks = [
    'null',
    '*',
    'http://good.test',
    'https://good.test.evil.test',
    'https://evilgood.test',
    'https://evil.test/https://good.test',
    'https://agood.test',
    'https://a.goodxtest',
    'https://a.good.test.evil.test',
    'https://a.good.test:444',
    'https://good.test@evil.test',
    'https://good.test evil.test',
    'https://evil.test#https://a.good.test',
    'https://ü.good.test',
    'https://GOOD.test',
    'https://a..good.test',
    'https://.good.test',
    'https://good.test,https://evil.test',
    'https://good.test%00.evil.test',
    'https://a.good.test/',
    'file://',
  ];
  for (const trick of tricks) assert.equal(await allowed(trick), undefined, trick);
  assert.equal(await allowed('https://evil.test', 'https://good.test'), undefined, 'two of them');
  const preflight = (from: string): string =>
    `OPTIONS / HTTP/1.1\r\nhost: good.test\r\norigin: ${from}\r\naccess-control-request-method: PUT\r\n\r\n`;
  assert.match((await send(preflight('https://good.test'))).head, /^access-control-allow-origin/im);
  for (const trick of tricks) {
    assert.doesNotMatch((await send(preflight(trick))).head, /^access-control-/im, trick);
  }
});
