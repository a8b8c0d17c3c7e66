// Filters that tell requests apart: what they keep as metadata and state, and what hosts get to know.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { toCluster, webBootstrap } from './support/bootstraps.js';
import { startProxy } from './support/start-proxy.js';

const ANY = 'type.googleapis.com/envoy';
const HTTP = `${ANY}.extensions.filters.http`;

interface Bootstrap {
  static_resources: {
    listeners: { filter_chains: { filters: { typed_config: { http_filters: object[] } }[] }[] }[];
    clusters: object[];
  };
}

interface Settings {
  readonly routes?: Parameters<typeof webBootstrap>[0];
  readonly origins?: Readonly<Record<string, number>>;
  /** Of the connection manager. */
  readonly manager?: object;
  /** Of static_resources. */
  readonly resources?: object;
}

const filter = (type: string, fields: object): object => ({
  name: type.split('.')[0],
  typed_config: { '@type': `${HTTP}.${type}`, ...fields },
});

/** The URL of a proxy with these filters before its router; its routes go to the cluster "host". */
async function startFilters(
  t: TestContext,
  filters: readonly object[],
  { routes = [toCluster('/', 'host')], origins, manager, resources }: Settings = {},
): Promise<string> {
  const host = origins ?? { host: await echo(t) };
  const bootstrap = structuredClone(webBootstrap(routes, host)) as unknown as Bootstrap;
  const config =
    bootstrap.static_resources.listeners[0]?.filter_chains[0]?.filters[0]?.typed_config;
  assert.ok(config);
  Object.assign(config, manager, { http_filters: [...filters, ...config.http_filters] });
  Object.assign(bootstrap.static_resources, resources);
  return (await startProxy(t, bootstrap)).listenerUrl('web');
}

/** The port of a server that answers with what it got, and with its name. */
async function echo(
  t: TestContext,
  answers: Readonly<Record<string, string>> = {},
): Promise<number> {
  const server = createServer((request, answer) => {
    request.resume();
    request.on('end', () => {
      for (const [name, value] of Object.entries(answers)) answer.setHeader(name, value);
      answer.end(JSON.stringify({ url: request.url, headers: request.headers }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

/** What the origin got. */
async function received(
  url: string,
  init?: RequestInit,
): Promise<{ url: string; headers: IncomingHttpHeaders }> {
  const answer = await fetch(url, init);
  assert.equal(answer.status, 200);
  return (await answer.json()) as { url: string; headers: IncomingHttpHeaders };
}

/** A route to the host whose answers have these formats. */
const shows = (formats: Readonly<Record<string, string>>) => ({
  ...toCluster('/', 'host'),
  response_headers_to_add: Object.entries(formats).map(([key, value]) => ({
    header: { key, value },
  })),
});

/** These headers of the answer. */
async function shown(
  url: string,
  names: readonly string[],
  init?: RequestInit,
): Promise<(string | null)[]> {
  const answer = await fetch(url, init);
  await answer.arrayBuffer();
  return names.map((name) => answer.headers.get(name));
}

test('composite: a tree chooses the filters that stand in its place', async (t) => {
  const mutation = (value: string): object =>
    filter('header_mutation.v3.HeaderMutation', {
      mutations: { request_mutations: [{ append: { header: { key: 'x-chosen', value } } }] },
    });
  const execute = (fields: object): object => ({
    action: {
      name: 'a',
      typed_config: { '@type': `${HTTP}.composite.v3.ExecuteFilterAction`, ...fields },
    },
  });
  const abort = { http_status: 418, percentage: { numerator: 100 } };
  const input = {
    name: 'h',
    typed_config: {
      '@type': `${ANY}.type.matcher.v3.HttpRequestHeaderMatchInput`,
      header_name: 'x-do',
    },
  };
  const map = {
    one: execute({ typed_config: mutation('one') }),
    chain: execute({ filter_chain: { typed_config: [mutation('one'), mutation('two')] } }),
    abort: execute({ typed_config: filter('fault.v3.HTTPFault', { abort }) }),
  };
  const chosen = {
    name: 'chosen',
    typed_config: {
      '@type': `${ANY}.extensions.common.matching.v3.ExtensionWithMatcher`,
      extension_config: filter('composite.v3.Composite', {}),
      xds_matcher: { matcher_tree: { input, exact_match_map: { map } } },
    },
  };
  const url = await startFilters(t, [chosen]);
  const choose = async (how: string): Promise<unknown> =>
    (await received(url, { headers: { 'x-do': how } })).headers['x-chosen'];
  assert.equal(await choose('one'), 'one');
  assert.equal(await choose('chain'), 'one, two');
  assert.equal(await choose('nothing'), undefined);
  assert.equal((await fetch(url, { headers: { 'x-do': 'abort' } })).status, 418);
});

test('header_to_metadata: headers, cookies and answers become metadata', async (t) => {
  const kit = (key: string, more: object = {}): object => ({
    metadata_namespace: 'kit',
    key,
    ...more,
  });
  // What answers become is there for the filters before: they see answers later.
  const later = filter('header_mutation.v3.HeaderMutation', {
    mutations: {
      response_mutations: [
        { append: { header: { key: 'x-kit', value: '%DYNAMIC_METADATA(kit)%' } } },
      ],
    },
  });
  const filters = [
    later,
    filter('header_to_metadata.v3.Config', {
      request_rules: [
        { header: 'X-Gone', on_header_present: kit('gone'), remove: true },
        {
          header: 'x-number',
          on_header_present: kit('number', { type: 'NUMBER' }),
          on_header_missing: kit('number', { value: '5', type: 'NUMBER' }),
        },
        { cookie: 'who', on_header_present: kit('who') },
      ],
      response_rules: [{ header: 'x-lang', on_header_present: kit('lang'), remove: true }],
    }),
  ];
  const url = await startFilters(t, filters, {
    origins: { host: await echo(t, { 'x-lang': 'de' }) },
    routes: [shows({ 'x-who': '%DYNAMIC_METADATA(kit:who)%' })],
  });
  const headers = { 'x-gone': 'bye', 'x-number': '12.5', cookie: 'a=b; who=ann' };
  const answer = await fetch(url, { headers });
  const { headers: got } = (await answer.json()) as { headers: IncomingHttpHeaders };
  assert.deepEqual([got['x-gone'], got['x-number']], [undefined, '12.5']);
  assert.deepEqual(JSON.parse(answer.headers.get('x-kit') ?? ''), {
    gone: 'bye',
    number: 12.5,
    who: 'ann',
    lang: 'de',
  });
  assert.deepEqual([answer.headers.get('x-who'), answer.headers.get('x-lang')], ['ann', null]);
  const [missing] = await shown(url, ['x-kit']);
  assert.deepEqual(JSON.parse(missing ?? ''), { number: 5, lang: 'de' });
});

test('set_metadata: values are set, kept, or laid over each other', async (t) => {
  const filters = [
    filter('set_metadata.v3.Config', {
      metadata: [
        { metadata_namespace: 'kit', value: { text: 'a', list: [1] } },
        { metadata_namespace: 'kit', value: { text: 'never' } },
        {
          metadata_namespace: 'kit',
          allow_overwrite: true,
          value: { list: ['x'], deep: { b: true } },
        },
      ],
    }),
  ];
  const formats = {
    'x-text': '%DYNAMIC_METADATA(kit:text)%',
    'x-list': '%DYNAMIC_METADATA(kit:list)%',
    'x-deep': '%DYNAMIC_METADATA(kit:deep:b)%',
  };
  const url = await startFilters(t, filters, { routes: [shows(formats)] });
  assert.deepEqual(await shown(url, Object.keys(formats)), ['a', '[1,"x"]', 'true']);
});

test('set_filter_state: formats of requests become state', async (t) => {
  const inline = (inline_string: string): object => ({ text_format_source: { inline_string } });
  const filters = [
    filter('set_filter_state.v3.Config', {
      on_request_headers: [
        {
          object_key: 'my.key',
          factory_key: 'envoy.string',
          format_string: inline('%REQ(x-state)% by %REQ(:method)%'),
        },
        {
          object_key: 'empty.key',
          factory_key: 'envoy.string',
          skip_if_empty: true,
          format_string: { ...inline('%REQ(x-none)%'), omit_empty_values: true },
        },
      ],
    }),
  ];
  const formats = {
    'x-mine': '%FILTER_STATE(my.key:PLAIN)%',
    'x-short': '%FILTER_STATE(my.key:PLAIN):4%',
    'x-empty': '[%FILTER_STATE(empty.key:PLAIN)%]',
  };
  const url = await startFilters(t, filters, { routes: [shows(formats)] });
  assert.deepEqual(await shown(url, Object.keys(formats), { headers: { 'x-state': 'open' } }), [
    'open by GET',
    'open',
    '[]',
  ]);
});

test('json_to_metadata: values of bodies become metadata, or what stands for them', async (t) => {
  const kit = (key: string, more: object = {}): object => ({
    metadata_namespace: 'kit',
    key,
    ...more,
  });
  const filters = [
    filter('json_to_metadata.v3.JsonToMetadata', {
      request_rules: {
        rules: [
          {
            selectors: [{ key: 'a' }, { key: 'version' }],
            on_present: kit('version'),
            on_missing: kit('version', { value: 'unknown' }),
            on_error: kit('version', { value: 'error' }),
          },
        ],
      },
    }),
  ];
  const routes = [shows({ 'x-version': '%DYNAMIC_METADATA(kit:version)%' })];
  const url = await startFilters(t, filters, { routes });
  const post = async (body: string, type = 'application/json'): Promise<unknown> =>
    (
      await shown(url, ['x-version'], { method: 'POST', body, headers: { 'content-type': type } })
    )[0];
  assert.equal(await post('{"a": {"version": "v1"}}'), 'v1');
  assert.equal(await post('{"a": {}}'), 'unknown');
  assert.equal(await post('nonsense'), 'error');
  assert.equal(await post(''), 'unknown');
  assert.equal(await post('{"a": {"version": "v1"}}', 'text/plain'), 'error');
});

test('ip_tagging: hosts learn where clients are from, and not from clients', async (t) => {
  const filters = [
    filter('ip_tagging.v3.IPTagging', {
      ip_tags: [
        { ip_tag_name: 'ten', ip_list: [{ address_prefix: '10.0.0.0', prefix_len: 8 }] },
        { ip_tag_name: 'one', ip_list: [{ address_prefix: '10.1.0.0', prefix_len: 16 }] },
        { ip_tag_name: 'six', ip_list: [{ address_prefix: '2001:db8::', prefix_len: 32 }] },
      ],
      ip_tag_header: { header: 'X-Tags', action: 'SANITIZE' },
    }),
  ];
  const manager = { use_remote_address: true, xff_num_trusted_hops: 1 };
  const url = await startFilters(t, filters, { manager });
  const tags = async (from: string): Promise<unknown> => {
    const headers = { 'x-forwarded-for': from, 'x-tags': 'spoof' };
    const value = (await received(url, { headers })).headers['x-tags'];
    return String(value).split(',').sort().join();
  };
  assert.equal(await tags('10.1.2.3'), 'one,ten');
  assert.equal(await tags('10.2.0.1'), 'ten');
  assert.equal(await tags('2001:db8::1'), 'six');
  assert.equal(await tags('192.0.2.1'), 'undefined');
});

test('api_key_auth: keys let clients in, and hosts see whose they are and not what', async (t) => {
  const filters = [
    filter('api_key_auth.v3.ApiKeyAuth', {
      credentials: [
        { key: 'one-key', client: 'one' },
        { key: 'two-key', client: 'two' },
      ],
      key_sources: [{ header: 'X-Key' }, { query: 'key' }],
      forwarding: { header: 'X-Client', hide_credentials: true },
    }),
  ];
  const onlyTwo = {
    ...toCluster('/only-two', 'host'),
    typed_per_filter_config: {
      api_key_auth: {
        '@type': `${HTTP}.api_key_auth.v3.ApiKeyAuthPerRoute`,
        allowed_clients: ['two'],
      },
    },
  };
  const url = await startFilters(t, filters, { routes: [onlyTwo, toCluster('/', 'host')] });
  const status = async (path: string, key?: string): Promise<number> => {
    const answer = await fetch(url + path, key === undefined ? {} : { headers: { 'x-key': key } });
    await answer.arrayBuffer();
    return answer.status;
  };
  const { headers } = await received(url, { headers: { 'x-key': 'one-key', 'x-client': 'spoof' } });
  assert.deepEqual([headers['x-client'], headers['x-key']], ['one', undefined]);
  const byQuery = await received(`${url}/p?b=1&key=two-key`);
  assert.deepEqual([byQuery.headers['x-client'], byQuery.url], ['two', '/p?b=1']);
  assert.equal(await status('/'), 401);
  assert.equal(await status('/', 'wrong'), 401);
  assert.equal(await status('/only-two', 'one-key'), 403);
  assert.equal(await status('/only-two', 'two-key'), 200);
});

test('stateful_session: who says where a session began comes back to it', async (t) => {
  const ports = [await echo(t, { 'x-host': 'a' }), await echo(t, { 'x-host': 'b' })];
  const lb_endpoints = ports.map((port_value) => ({
    endpoint: { address: { socket_address: { address: '127.0.0.1', port_value } } },
  }));
  const two = {
    name: 'host',
    type: 'STATIC',
    load_assignment: { cluster_name: 'host', endpoints: [{ lb_endpoints }] },
  };
  const session_state = {
    name: 'envoy.http.stateful_session.header',
    typed_config: {
      '@type': `${ANY}.extensions.http.stateful_session.header.v3.HeaderBasedSessionState`,
      name: 'x-session',
    },
  };
  const filters = [filter('stateful_session.v3.StatefulSession', { session_state, strict: true })];
  const url = await startFilters(t, filters, { origins: {}, resources: { clusters: [two] } });
  const session = (index: number): string =>
    Buffer.from(`127.0.0.1:${ports[index]}`).toString('base64');
  const ask = async (value: string): Promise<unknown> =>
    (await shown(url, ['x-host'], { headers: { 'x-session': value } }))[0];
  const [host, began] = await shown(url, ['x-host', 'x-session']);
  assert.equal(began, session(host === 'a' ? 0 : 1));
  for (let tries = 0; tries < 3; tries++) {
    assert.equal(await ask(session(0)), 'a');
    assert.equal(await ask(session(1)), 'b');
  }
  const nowhere = Buffer.from('192.0.2.1:80').toString('base64');
  assert.equal((await fetch(url, { headers: { 'x-session': nowhere } })).status, 503);
});

test('credential_injector: hosts get the credential of the proxy', async (t) => {
  const injector = (generic: object, more: object = {}): object =>
    filter('credential_injector.v3.CredentialInjector', {
      credential: {
        name: 'envoy.http.injected_credentials.generic',
        typed_config: {
          '@type': `${ANY}.extensions.http.injected_credentials.generic.v3.Generic`,
          credential: { name: 'token' },
          ...generic,
        },
      },
      ...more,
    });
  const filters = [
    { ...injector({ header_value_prefix: 'Bearer ' }), name: 'kept' },
    { ...injector({ header: 'X-Own' }, { overwrite: true }), name: 'replaced' },
  ];
  const secrets = [{ name: 'token', generic_secret: { secret: { inline_string: 'hush' } } }];
  const url = await startFilters(t, filters, { resources: { secrets } });
  const { headers } = await received(url);
  assert.deepEqual([headers.authorization, headers['x-own']], ['Bearer hush', 'hush']);
  const mine = { headers: { authorization: 'mine', 'x-own': 'mine' } };
  const { headers: second } = await received(url, mine);
  assert.deepEqual([second.authorization, second['x-own']], ['mine', 'hush']);
});

test('aws_request_signing: hosts get requests that are signed, with their bodies', async (t) => {
  const filters = [
    filter('aws_request_signing.v3.AwsRequestSigning', {
      service_name: 'execute-api',
      region: 'us-east-1',
      host_rewrite: 'api.test',
      credential_provider: {
        inline_credential: {
          access_key_id: 'AKID',
          secret_access_key: 'SECRET',
          session_token: 'TOKEN',
        },
      },
    }),
  ];
  const url = await startFilters(t, filters);
  const { headers } = await received(`${url}/x?b=1`, {
    method: 'POST',
    body: 'hello',
    headers: { authorization: 'mine', 'x-amz-date': 'mine' },
  });
  const date = String(headers['x-amz-date']);
  assert.match(date, /^\d{8}T\d{6}Z$/);
  assert.equal(headers['x-amz-security-token'], 'TOKEN');
  assert.equal(headers['x-amz-content-sha256'], createHash('sha256').update('hello').digest('hex'));
  assert.equal(headers.host, 'api.test');
  const scope = `AKID/${date.slice(0, 8)}/us-east-1/execute-api/aws4_request`;
  const signed = /^AWS4-HMAC-SHA256 Credential=(\S+), SignedHeaders=(\S+), Signature=[0-9a-f]{64}$/;
  const [, credential, names = ''] = signed.exec(headers.authorization ?? '') ?? [];
  assert.equal(credential, scope);
  for (const name of ['host', 'x-amz-content-sha256', 'x-amz-date', 'x-amz-security-token']) {
    assert.ok(names.split(';').includes(name), name);
  }
});
