// Attacks that users of a proxy read of, each with the answer that it gets here: by what a client sees and
// by what the origin is asked, since it is the origin that would be harmed.
import assert from 'node:assert/strict';
import { createHmac, createSign, generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { posix } from 'node:path';
import { test, type TestContext } from 'node:test';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { toCluster, webBootstrap } from './support/bootstraps.js';
import { startProxy } from './support/start-proxy.js';

const TYPE = 'type.googleapis.com/envoy.extensions';
const FILTER = `${TYPE}.filters.http`;

interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Of what has come of its body. */
  bodyBytes: number;
}

/** Answers with what `answer` says, and keeps what it was asked. */
async function startOrigin(
  t: TestContext,
  answer: (asked: Asked) => { status?: number; headers?: Record<string, string>; body?: string },
): Promise<{ port: number; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const one = { path: request.url ?? '', headers: request.headers, bodyBytes: 0 };
    asked.push(one);
    request.on('data', (piece: Buffer) => (one.bodyBytes += piece.length));
    const { status = 200, headers = {}, body = 'fine' } = answer(one);
    request.on('end', () => {
      response.writeHead(status, { ...headers, 'content-length': body.length }).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, asked };
}

interface Setting {
  readonly filters?: readonly object[];
  readonly manager?: object;
  readonly origins: Readonly<Record<string, number>>;
  readonly routes?: readonly object[];
}

/** A proxy before those origins; what sends bytes to it. */
async function startBefore(t: TestContext, { filters = [], manager, origins, routes }: Setting) {
  const web = webBootstrap(
    (routes ?? [toCluster('/', Object.keys(origins)[0] ?? '')]) as never,
    origins,
  ) as unknown as {
    static_resources: {
      listeners: { filter_chains: { filters: { typed_config: { http_filters: object[] } }[] }[] }[];
    };
  };
  const config = web.static_resources.listeners[0]?.filter_chains[0]?.filters[0]?.typed_config;
  assert.ok(config);
  Object.assign(config, manager);
  config.http_filters.unshift(...filters);
  const proxy = await startProxy(t, web);
  const { port } = new URL(await proxy.listenerUrl('web'));
  return (bytes: string | Buffer) => exchange(Number(port), bytes);
}

const ANSWER_TIMEOUT_MS = 10_000;

interface Answer {
  /** 0: the connection ended without an answer. */
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** The first answer to those bytes, after which the connection is closed by us. */
function exchange(port: number, bytes: string | Buffer): Promise<Answer> {
  const isHead = bytes.slice(0, 4).toString() === 'HEAD';
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    const finish = () => {
      socket.destroy();
      const [head = '', body = ''] = text.split(/\r\n\r\n([^]*)/);
      resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0), head, body });
    };
    socket.on('data', (data: Buffer) => {
      text += data.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      const length = /content-length: (\d+)/i.exec(text.slice(0, end));
      const rest = isHead ? 0 : Number(length?.[1]);
      if (end > 0 && text.length >= end + 4 + rest) finish();
    });
    socket.on('close', finish).on('error', finish).setTimeout(ANSWER_TIMEOUT_MS, finish);
  });
}

const get = (path: string, ...lines: readonly string[]): string =>
  [`GET ${path} HTTP/1.1`, 'host: good.test', ...lines, '', ''].join('\r\n');

// ---- bombs ----

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

// ---- paths ----

/** What servers that are careless make of a path. */
function understood(path: string): string {
  let text = path.split(/[?#]/)[0] ?? '';
  for (let i = 0; i < 3; ++i)
    text = text.replace(/%(2e|2f|5c|61)/gi, (code) => decodeURIComponent(code));
  const plain = text.replaceAll('\\', '/').replace(/;[^/]*/g, '');
  return posix.normalize(plain).replace(/^\/+/, '/');
}

const PATHS = [
  '/admin',
  '/admin/',
  '/admin?a',
  '/admin/x',
  '/admin;a=b',
  '/%61dmin',
  '/./admin',
  '/x/../admin',
  '/x/%2e%2e/admin',
  '/x/.%2E/admin',
  '//admin',
  '///admin',
  '/x//../admin',
  '/%2fadmin',
  '/x%2f..%2fadmin',
  '/x/..%2fadmin',
  '/x\\..\\admin',
  '/x/..\\admin',
  '/\\admin',
  '/%5cadmin',
  '/x%5c..%5cadmin',
  '/%2e/admin',
  '/%2E%2E/admin',
  '/x/%2e./%2e/admin',
  '/x%2F%2E%2E%2Fadmin',
  '/;a/../admin',
  '/admin%2fx',
  'http://good.test/admin',
  'http://good.test//x/../admin',
];
const CAREFUL = {
  normalize_path: true,
  merge_slashes: true,
  path_with_escaped_slashes_action: 'UNESCAPE_AND_FORWARD',
};

test('no spelling of a path gets past a rule of rbac, as its origin would read it', async (t) => {
  const origin = await startOrigin(t, () => ({}));
  const rules = {
    action: 'DENY',
    policies: {
      admin: {
        permissions: [{ url_path: { path: { prefix: '/admin' } } }],
        principals: [{ any: true }],
      },
    },
  };
  const send = await startBefore(t, {
    origins: { origin: origin.port },
    manager: CAREFUL,
    filters: [{ name: 'rbac', typed_config: { '@type': `${FILTER}.rbac.v3.RBAC`, rules } }],
  });
  for (const path of PATHS) {
    const { status } = await send(get(path));
    assert.ok([400, 403, 307].includes(status) || status === 200, `${path}: ${status}`);
  }
  const reached = origin.asked
    .map(({ path }) => path)
    .filter((path) => understood(path).startsWith('/admin'));
  assert.deepEqual(reached, []);
  assert.equal((await send(get('/public'))).status, 200);
});

test('an authorization service is asked of the path that its origin is asked for', async (t) => {
  const origin = await startOrigin(t, () => ({}));
  const service = await startOrigin(t, ({ path }) => ({
    status: understood(path).startsWith('/admin') ? 403 : 200,
  }));
  const send = await startBefore(t, {
    origins: { origin: origin.port, service: service.port },
    manager: CAREFUL,
    filters: [
      {
        name: 'ext_authz',
        typed_config: {
          '@type': `${FILTER}.ext_authz.v3.ExtAuthz`,
          transport_api_version: 'V3',
          http_service: {
            server_uri: { uri: 'http://service', cluster: 'service', timeout: '10s' },
          },
        },
      },
    ],
  });
  for (const path of [...PATHS, '/public', '/x/../public']) await send(get(path));
  const allowed = service.asked
    .map(({ path }) => path)
    .filter((path) => !understood(path).startsWith('/admin'));
  for (const { path } of origin.asked) assert.ok(allowed.includes(path), path);
  assert.ok(origin.asked.some(({ path }) => path === '/public'));
});

// ---- tokens ----

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const CLAIMS = { iss: 'issuer', sub: 'ann' };

function signed(header: object, sign: (text: string) => string): string {
  const text = `${part(header)}.${part(CLAIMS)}`;
  return `${text}.${sign(text)}`;
}
const rsa = (text: string): string =>
  createSign('sha256').update(text).sign(privateKey).toString('base64url');
const hmac = (secret: string | Buffer) => (text: string) =>
  createHmac('sha256', secret).update(text).digest('base64url');

test('a token that was not signed by the key of its issuer is none, whatever it says', async (t) => {
  const origin = await startOrigin(t, () => ({}));
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' };
  const pem = publicKey.export({ format: 'pem', type: 'spki' });
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const theirs = (text: string): string =>
    createSign('sha256').update(text).sign(other.privateKey).toString('base64url');
  const send = await startBefore(t, {
    origins: { origin: origin.port },
    filters: [
      {
        name: 'jwt',
        typed_config: {
          '@type': `${FILTER}.jwt_authn.v3.JwtAuthentication`,
          providers: {
            one: {
              issuer: 'issuer',
              local_jwks: { inline_string: JSON.stringify({ keys: [jwk] }) },
            },
          },
          rules: [{ match: { prefix: '/' }, requires: { provider_name: 'one' } }],
        },
      },
    ],
  });
  const good = signed({ alg: 'RS256', kid: 'one' }, rsa);
  const [head = '', , signature = ''] = good.split('.');
  const forged = {
    'no algorithm': signed({ alg: 'none' }, () => ''),
    'no algorithm, oddly spelled': signed({ alg: 'nOnE', kid: 'one' }, () => ''),
    'no signature': good.slice(0, good.lastIndexOf('.') + 1),
    'two parts': good.slice(0, good.lastIndexOf('.')),
    'the public key as a secret, as PEM': signed({ alg: 'HS256', kid: 'one' }, hmac(pem)),
    'the public key as a secret, as JWK': signed(
      { alg: 'HS256', kid: 'one' },
      hmac(Buffer.from(jwk.n ?? '', 'base64url')),
    ),
    'an empty secret': signed({ alg: 'HS256', kid: 'one' }, hmac('')),
    'a key of its own': signed(
      { alg: 'RS256', kid: 'one', jwk: other.publicKey.export({ format: 'jwk' }) },
      theirs,
    ),
    'an address of keys': signed({ alg: 'RS256', kid: 'one', jku: 'http://evil.test/' }, theirs),
    'a key id that is a path': signed({ alg: 'RS256', kid: '../../../../dev/null' }, theirs),
    'a key id that is SQL': signed({ alg: 'RS256', kid: "' or '1'='1" }, theirs),
    'a key id with a zero': signed({ alg: 'RS256', kid: 'one\u0000' }, theirs),
    'claims that were changed': `${head}.${part({ ...CLAIMS, sub: 'root' })}.${signature}`,
    'another issuer': `${head}.${part({ iss: 'other' })}.${signature}`,
    'a long token': `${good}${'A'.repeat(50_000)}`,
    'many dots': '.'.repeat(20_000),
    'deep JSON': `${Buffer.from('['.repeat(20_000)).toString('base64url')}.e30.AA`,
    'two algorithms': `${Buffer.from('{"alg":"RS256","kid":"one","alg":"none"}').toString('base64url')}.${part(CLAIMS)}.`,
    'an algorithm of another kind of keys': signed({ alg: 'ES256', kid: 'one' }, rsa),
    'another hash than that of the key': signed({ alg: 'RS512', kid: 'one' }, rsa),
    'a key id that is a list': signed({ alg: 'RS256', kid: ['one'] }, rsa),
    'a signature of nothing': `${head}.${part(CLAIMS)}.${'A'.repeat(342)}`,
  };
  for (const [name, token] of Object.entries(forged)) {
    assert.equal((await send(get('/', `authorization: Bearer ${token}`))).status, 401, name);
  }
  assert.equal((await send(get('/', `authorization: Bearer ${'A'.repeat(200_000)}`))).status, 431);
  assert.equal(origin.asked.length, 0);
  assert.equal((await send(get('/', `authorization: Bearer ${good}`))).status, 200);
});

// ---- answers that are two ----

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
            name: 'envelope',
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

// ---- what caches keep ----

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

// ---- origins of browsers ----

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
