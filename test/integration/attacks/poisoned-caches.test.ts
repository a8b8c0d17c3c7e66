// What one client would have a cache keep for others.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TYPE, FILTER, startOrigin, startBefore, get } from './setting.js';

test('what one client gets out of a cache no other client can have put there', async (t) => {
  const origin = await startOrigin(t, ({ path, headers }) => {
    const kept = { 'cache-control': 'max-age=1000', date: new Date().toUTCString() };
    if (path === '/any') return { headers: { ...kept, vary: '*' }, body: String(headers['x-who']) };
    if (path === '/lang') {
      return { headers: { ...kept, vary: 'x-lang' }, body: String(headers['x-lang']) };
    }
    if (path === '/agent') {
      return { headers: { ...kept, vary: 'user-agent' }, body: String(headers['user-agent']) };
    }
    if (path === '/part' && headers.range) {
      return { status: 206, headers: { ...kept, 'content-range': 'bytes 0-0/4' }, body: 'f' };
    }
    if (path === '/fails' && headers['x-break'])
      return { status: 500, headers: kept, body: 'broken' };
    return {
      headers: kept,
      body: `${String(headers.host)}${path} ${String(headers.authorization)}`,
    };
  });
  const send = await startBefore(t, {
    origins: { origin: origin.port },
    filters: [
      {
        name: 'cache',
        typed_config: {
          '@type': `${FILTER}.cache.v3.CacheConfig`,
          allowed_vary_headers: [{ exact: 'x-lang' }],
          typed_config: {
            '@type': `${TYPE}.http.cache.simple_http_cache.v3.SimpleHttpCacheConfig`,
          },
        },
      },
    ],
  });
  const body = async (bytes: string): Promise<string> => (await send(bytes)).body;
  const isKept = async (bytes: string): Promise<boolean> =>
    /^age: /m.test((await send(bytes)).head);

  await body(get('/who', 'authorization: ann'));
  assert.equal(await body(get('/who')), 'good.test/who undefined', 'an answer to somebody');
  await body('GET /host HTTP/1.1\r\nhost: evil.test\r\n\r\n');
  assert.equal(await body(get('/host')), 'good.test/host undefined', 'of another host');
  await body('GET http://evil.test/target HTTP/1.1\r\nhost: good.test\r\n\r\n');
  assert.equal(await body(get('/target')), 'good.test/target undefined', 'of the target');
  await body(get('/any', 'x-who: ann'));
  assert.equal(await body(get('/any', 'x-who: bob')), 'bob', 'that varies by anything');
  await body(get('/agent', 'user-agent: ann'));
  assert.equal(
    await body(get('/agent', 'user-agent: bob')),
    'bob',
    'that varies by what it may not',
  );
  assert.equal(await body(get('/lang', 'x-lang: de')), 'de');
  assert.equal(await body(get('/lang', 'x-lang: fr')), 'fr', 'that varies');
  assert.equal(await isKept(get('/lang', 'x-lang: de')), true);
  await body(get('/part', 'range: bytes=0-0'));
  assert.equal(await body(get('/part')), 'good.test/part undefined', 'a part of it');
  await body(get('/fails', 'x-break: 1'));
  assert.equal(await body(get('/fails')), 'good.test/fails undefined', 'a failure');
  await body('HEAD /head HTTP/1.1\r\nhost: good.test\r\n\r\n');
  assert.equal(await body(get('/head')), 'good.test/head undefined', 'a head alone');
  await body(`${get('/fat', 'content-length: 4')}evil`);
  assert.equal(await isKept(get('/fat')), false, 'of a request with a body');
  await body(get('/who?a=1&b=2'));
  assert.equal(await body(get('/who?b=2')), 'good.test/who?b=2 undefined', 'of another query');
  await body(get('/case'));
  assert.equal(await isKept(get('/CASE')), false, 'of a path in other letters');
  const smuggled =
    'POST /s HTTP/1.1\r\nhost: good.test\r\ncontent-length: 44\r\ntransfer-encoding: chunked\r\n\r\n' +
    '0\r\n\r\nGET /evil HTTP/1.1\r\nhost: good.test\r\n\r\n';
  assert.equal((await send(smuggled)).status, 400);
  assert.equal(await isKept(get('/evil')), false, 'that was smuggled');
});
