// Filters before the router, as an operator uses them.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { descriptorSet, field, message, method } from '../unit/extensions/http/descriptors.js';
import { says, toCluster, webBootstrap } from './support/bootstraps.js';
import { makeFolder, startProxy } from './support/start-proxy.js';

const TYPE = 'type.googleapis.com/envoy.extensions.filters.http';

interface Manager {
  http_filters: object[];
}

/** The bootstrap with these filters before its router. */
function withFilters(bootstrap: ReturnType<typeof webBootstrap>, filters: object[]): object {
  const copy = structuredClone(bootstrap) as unknown as {
    static_resources: {
      listeners: { filter_chains: { filters: { typed_config: Manager }[] }[] }[];
    };
  };
  const manager = copy.static_resources.listeners[0]?.filter_chains[0]?.filters[0]?.typed_config;
  assert.ok(manager);
  manager.http_filters = [...filters, ...manager.http_filters];
  return copy;
}

const HEALTH_CHECK = {
  name: 'check',
  typed_config: {
    '@type': `${TYPE}.health_check.v3.HealthCheck`,
    pass_through_mode: false,
    headers: [{ name: ':path', string_match: { exact: '/healthz' } }],
  },
};
const tap = (common_config: object): object => ({
  name: 'tap',
  typed_config: { '@type': `${TYPE}.tap.v3.Tap`, common_config },
});

test('health checks are answered by the filter, and fail when they are told to', async (t) => {
  const proxy = await startProxy(t, withFilters(webBootstrap([says('/', 'yes')]), [HEALTH_CHECK]));
  const url = await proxy.listenerUrl('web');
  const check = async (): Promise<number> => (await fetch(`${url}/healthz`)).status;
  assert.equal(await check(), 200);
  await fetch(`${proxy.adminUrl}/healthcheck/fail`, { method: 'POST' });
  assert.equal(await check(), 503);
  const other = await fetch(url);
  assert.equal(other.headers.get('x-envoy-immediate-health-check-fail'), 'true');
  await fetch(`${proxy.adminUrl}/healthcheck/ok`, { method: 'POST' });
  assert.equal(await check(), 200);
});

test('a route switches a filter off', async (t) => {
  const route = {
    ...says('/healthz', 'from the route'),
    typed_per_filter_config: {
      check: { '@type': 'type.googleapis.com/envoy.config.route.v3.FilterConfig', disabled: true },
    },
  };
  const proxy = await startProxy(
    t,
    withFilters(webBootstrap([route, says('/', 'yes')]), [HEALTH_CHECK]),
  );
  const url = await proxy.listenerUrl('web');
  assert.equal(await (await fetch(`${url}/healthz`)).text(), 'from the route');
});

test('POST /tap shows the requests that fit, while somebody looks', async (t) => {
  const bootstrap = withFilters(webBootstrap([says('/', 'yes')]), [
    tap({ admin_config: { config_id: 'mine' } }),
  ]);
  const proxy = await startProxy(t, bootstrap);
  const url = await proxy.listenerUrl('web');
  const body = {
    config_id: 'mine',
    tap_config: {
      match: {
        http_request_headers_match: {
          headers: [{ name: ':path', string_match: { exact: '/wanted' } }],
        },
      },
      output_config: {
        sinks: [{ format: 'JSON_BODY_AS_STRING', buffered_admin: { max_traces: 2 } }],
      },
    },
  };
  const look = (): Promise<Response> =>
    fetch(`${proxy.adminUrl}/tap`, { method: 'POST', body: JSON.stringify(body) });
  const answer = await look();
  assert.equal((await look()).status, 400);
  let traces: string | undefined;
  void answer.text().then((text) => (traces = text));
  const end = Date.now() + 10_000;
  while (traces === undefined && Date.now() < end) {
    await (await fetch(`${url}/other`)).text();
    await (await fetch(`${url}/wanted`)).text();
    await sleep(10);
  }
  assert.match(traces ?? '', /"value": "\/wanted"/);
  assert.doesNotMatch(traces ?? '', /"value": "\/other"/);
  assert.match(traces ?? '', /"as_string": "yes"/);
  assert.equal((await look()).status, 200);
});

test('whoever has the head of POST /tap misses no request from there on', async (t) => {
  const bootstrap = withFilters(webBootstrap([says('/', 'yes')]), [
    tap({ admin_config: { config_id: 'mine' } }),
  ]);
  const proxy = await startProxy(t, bootstrap);
  const url = await proxy.listenerUrl('web');
  const body = JSON.stringify({
    config_id: 'mine',
    tap_config: {
      match: { any_match: true },
      output_config: { sinks: [{ buffered_admin: { max_traces: 1 } }] },
    },
  });
  for (let i = 0; i < 20; ++i) {
    const signal = AbortSignal.timeout(5000);
    const answer = await fetch(`${proxy.adminUrl}/tap`, { method: 'POST', body, signal });
    await (await fetch(`${url}/only-${i}`)).text();
    assert.ok((await answer.text()).includes(`/only-${i}`));
  }
});

test('a tap of the bootstrap writes a file for each request', async (t) => {
  const folder = makeFolder(t);
  const sinks = [{ file_per_tap: { path_prefix: join(folder, 'trace') } }];
  const static_config = { match: { any_match: true }, output_config: { sinks } };
  const proxy = await startProxy(
    t,
    withFilters(webBootstrap([says('/', 'yes')]), [tap({ static_config })]),
  );
  await (await fetch(await proxy.listenerUrl('web'))).text();
  const end = Date.now() + 10_000;
  const read = (): string =>
    readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('');
  while (read() === '' && Date.now() < end) await sleep(10);
  const trace = JSON.parse(read()) as {
    readonly http_buffered_trace: { readonly response: { readonly body: object } };
  };
  const { body } = trace.http_buffered_trace.response;
  assert.deepEqual(body, { as_bytes: Buffer.from('yes').toString('base64'), truncated: false });
});

/** A story of these filters before routes that are answered by a host which echoes. */
async function behind(
  t: TestContext,
  filters: object[],
  routes: (origin: string) => object[],
  runtime: object = {},
): Promise<{ url: string; adminUrl: string; stat(name: string): Promise<string> }> {
  const origin = createServer((request, response) => {
    const { 'content-length': length = 'none' } = request.headers;
    request.resume().on('end', () => response.end(`length ${length}`));
  });
  const port = await new Promise<number>((resolve) => {
    origin.listen(0, '127.0.0.1', () => resolve((origin.address() as AddressInfo).port));
  });
  t.after(() => origin.close());
  const bootstrap = webBootstrap(routes('origin') as Record<string, unknown>[], { origin: port });
  const proxy = await startProxy(t, { ...withFilters(bootstrap, filters), ...runtime });
  return {
    url: await proxy.listenerUrl('web'),
    adminUrl: proxy.adminUrl,
    stat: async (name) => (await fetch(`${proxy.adminUrl}/stats?filter=${name}$`)).text(),
  };
}

test('cors: a browser is told which origin may read an answer, by the policy of its host', async (t) => {
  const filter = { name: 'c', typed_config: { '@type': `${TYPE}.cors.v3.Cors` } };
  const policy = {
    '@type': `${TYPE}.cors.v3.CorsPolicy`,
    allow_origin_string_match: [{ suffix: '.shop.test' }],
    allow_methods: 'GET, PUT',
  };
  const { url, stat } = await behind(t, [filter], (origin) => [
    { ...toCluster('/', origin), typed_per_filter_config: { c: policy } },
  ]);
  const asks = (origin: string) => ({
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'PUT' },
  });
  const preflight = await fetch(url, asks('http://till.shop.test'));
  assert.equal(preflight.headers.get('access-control-allow-origin'), 'http://till.shop.test');
  assert.equal(preflight.headers.get('access-control-allow-methods'), 'GET, PUT');
  const other = await fetch(url, asks('http://other.test'));
  assert.equal(other.headers.get('access-control-allow-origin'), null);
  assert.equal(await other.text(), 'length 0');
  assert.equal(await stat('origin_valid'), 'http.web.cors.origin_valid: 1\n');
});

test('buffer: a host hears how long a request is, and of none that is too long', async (t) => {
  const filter = {
    name: 'b',
    typed_config: { '@type': `${TYPE}.buffer.v3.Buffer`, max_request_bytes: 10 },
  };
  const { url, stat } = await behind(t, [filter], (origin) => [toCluster('/', origin)]);
  const post = (text: string): Promise<Response> => {
    // A stream's length is not known before its end.
    const body = new Blob([text]).stream();
    return fetch(url, { method: 'POST', body, duplex: 'half' } as RequestInit);
  };
  assert.equal(await (await post('0123456789')).text(), 'length 10');
  assert.equal((await post('0123456789a')).status, 413);
  assert.equal(await stat('web.downstream_rq_too_large'), 'http.web.downstream_rq_too_large: 1\n');
});

test('fault: requests are delayed and aborted as a route says, and as runtime values say later', async (t) => {
  const fault = (fields: object): object => ({ '@type': `${TYPE}.fault.v3.HTTPFault`, ...fields });
  const all = { numerator: 100 };
  const filter = {
    name: 'f',
    typed_config: fault({ abort: { http_status: 503, percentage: { numerator: 0 } } }),
  };
  const delay = fault({ delay: { fixed_delay: '0.1s', percentage: all } });
  const layered_runtime = { layers: [{ name: 'admin', admin_layer: {} }] };
  const { url, adminUrl, stat } = await behind(
    t,
    [filter],
    (origin) => [
      { ...toCluster('/slow', origin), typed_per_filter_config: { f: delay } },
      toCluster('/', origin),
    ],
    { layered_runtime },
  );
  const begin = performance.now();
  assert.equal(await (await fetch(`${url}/slow`)).text(), 'length none');
  assert.ok(performance.now() - begin >= 99);
  assert.equal((await fetch(url)).status, 200);
  await fetch(`${adminUrl}/runtime_modify?fault.http.abort.abort_percent=100`, { method: 'POST' });
  const aborted = await fetch(url);
  assert.equal(aborted.status, 503);
  assert.equal(await aborted.text(), 'fault filter abort');
  assert.equal(await stat('aborts_injected'), 'http.web.fault.aborts_injected: 1\n');
  assert.equal(await stat('delays_injected'), 'http.web.fault.delays_injected: 1\n');
});

test('fault: keys that name a downstream cluster are followed once they are set, and its faults counted', async (t) => {
  const filter = {
    name: 'f',
    typed_config: {
      '@type': `${TYPE}.fault.v3.HTTPFault`,
      abort: { http_status: 503, percentage: { numerator: 0 } },
    },
  };
  const layered_runtime = { layers: [{ name: 'admin', admin_layer: {} }] };
  const { url, adminUrl, stat } = await behind(t, [filter], (origin) => [toCluster('/', origin)], {
    layered_runtime,
  });
  const from = async (cluster: string): Promise<number> =>
    (await fetch(url, { headers: { 'x-envoy-downstream-service-cluster': cluster } })).status;
  const set = (keys: string): Promise<Response> =>
    fetch(`${adminUrl}/runtime_modify?${keys}`, { method: 'POST' });
  assert.equal(await from('shop'), 200);
  await set('fault.http.shop.abort.abort_percent=100&fault.http.shop.abort.http_status=418');
  assert.equal(await from('shop'), 418);
  assert.equal(await from('till'), 200);
  await set('fault.http.shop.abort.abort_percent=');
  assert.equal(await from('shop'), 200);
  const counted = 'http.web.fault.shop.aborts_injected: 1\n';
  assert.equal(await stat('shop.aborts_injected'), counted);
});

const BASKET = {
  name: 'basket.proto',
  package: 'shop',
  syntax: 'proto3',
  message_type: [message('Item', [field('name', 1, 9)])],
  service: [{ name: 'Basket', method: [method('Add', '.shop.Item', '.shop.Item')] }],
};
const GRPC_FILTERS = {
  grpc_web: { '@type': `${TYPE}.grpc_web.v3.GrpcWeb` },
  grpc_stats: { '@type': `${TYPE}.grpc_stats.v3.FilterConfig`, stats_for_all_methods: true },
  grpc_http1_bridge: { '@type': `${TYPE}.grpc_http1_bridge.v3.Config` },
  grpc_http1_reverse_bridge: {
    '@type': `${TYPE}.grpc_http1_reverse_bridge.v3.FilterConfig`,
    content_type: 'application/x-protobuf',
    withhold_grpc_frames: true,
  },
  grpc_json_transcoder: {
    '@type': `${TYPE}.grpc_json_transcoder.v3.GrpcJsonTranscoder`,
    proto_descriptor_bin: Buffer.from(descriptorSet([BASKET])).toString('base64'),
    services: ['shop.Basket'],
    auto_mapping: true,
  },
  connect_grpc_bridge: { '@type': `${TYPE}.connect_grpc_bridge.v3.FilterConfig` },
};
const MESSAGE = Buffer.from('\0\0\0\0\x05hello', 'latin1');

/** An origin that knows gRPC as HTTP/1 can: its status is in the trailers. */
async function startGrpcOrigin(t: TestContext): Promise<number> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const type = request.headers['content-type'] ?? '';
      response.writeHead(200, { 'content-type': type, trailer: 'grpc-status' });
      response.write(Buffer.concat(parts));
      response.addTrailers({ 'grpc-status': '0' });
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

async function callThrough(
  t: TestContext,
  names: readonly (keyof typeof GRPC_FILTERS)[],
  type: string,
  sent: typeof MESSAGE | string = MESSAGE,
): Promise<{ readonly response: Response; readonly body: string; readonly stats: string }> {
  const origin = await startGrpcOrigin(t);
  const bootstrap = withFilters(
    webBootstrap([toCluster('/', 'origin')], { origin }),
    names.map((name) => ({ name, typed_config: GRPC_FILTERS[name] })),
  ) as { static_resources: { clusters: object[] } };
  const PROTOCOLS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
  bootstrap.static_resources.clusters = bootstrap.static_resources.clusters.map((cluster) => ({
    ...cluster,
    typed_extension_protocol_options: {
      [PROTOCOLS]: {
        '@type': `type.googleapis.com/${PROTOCOLS}`,
        explicit_http_config: { http_protocol_options: { enable_trailers: true } },
      },
    },
  }));
  const proxy = await startProxy(t, bootstrap);
  const response = await fetch(`${await proxy.listenerUrl('web')}/shop.Basket/Add`, {
    method: 'POST',
    headers: { 'content-type': type },
    body: sent,
  });
  const body = Buffer.from(await response.arrayBuffer()).toString('latin1');
  const stats = await (await fetch(`${proxy.adminUrl}/stats?filter=grpc`)).text();
  return { response, body, stats };
}

test('a browser calls gRPC, which is counted by method', async (t) => {
  const { response, body, stats } = await callThrough(
    t,
    ['grpc_web', 'grpc_stats'],
    'application/grpc-web+proto',
  );
  assert.equal(response.headers.get('content-type'), 'application/grpc-web+proto');
  assert.equal(body, '\0\0\0\0\x05hello\x80\0\0\0\x0fgrpc-status:0\r\n');
  assert.match(stats, /^cluster\.origin\.grpc-web\.shop\.Basket\.Add\.success: 1$/m);
  assert.match(stats, /^cluster\.origin\.grpc\.shop\.Basket\.Add\.request_message_count: 1$/m);
});

test('grpc_http1_bridge tells the status in the head of the answer', async (t) => {
  const { response, body } = await callThrough(t, ['grpc_http1_bridge'], 'application/grpc');
  assert.equal(response.headers.get('grpc-status'), '0');
  assert.equal(response.headers.get('content-length'), '10');
  assert.equal(body, MESSAGE.toString('latin1'));
});

test('grpc_http1_reverse_bridge puts a plain answer into a frame', async (t) => {
  const { response, body } = await callThrough(
    t,
    ['grpc_http1_reverse_bridge'],
    'application/grpc',
  );
  assert.equal(response.headers.get('content-type'), 'application/grpc');
  assert.equal(body, MESSAGE.toString('latin1'));
});

test('grpc_json_transcoder makes a call of JSON, and JSON of its answer', async (t) => {
  const { response, body } = await callThrough(
    t,
    ['grpc_json_transcoder'],
    'application/json',
    '{"name":"tea"}',
  );
  assert.equal(response.headers.get('content-type'), 'application/json');
  assert.equal(body, '{"name":"tea"}');
});

test('connect_grpc_bridge makes a call of a message alone, and takes its frame off again', async (t) => {
  const { response, body } = await callThrough(
    t,
    ['connect_grpc_bridge'],
    'application/proto',
    'hello',
  );
  assert.equal(response.headers.get('content-type'), 'application/proto');
  assert.equal(body, 'hello');
});

test('rbac keeps out whom no policy lets in, and csrf pages of others', async (t) => {
  const rules = {
    action: 'ALLOW',
    policies: {
      open: {
        permissions: [{ url_path: { path: { prefix: '/open' } } }],
        principals: [{ any: true }],
      },
    },
  };
  const filters = [
    { name: 'rbac', typed_config: { '@type': `${TYPE}.rbac.v3.RBAC`, rules } },
    {
      name: 'csrf',
      typed_config: {
        '@type': `${TYPE}.csrf.v3.CsrfPolicy`,
        filter_enabled: { default_value: { numerator: 100 } },
      },
    },
  ];
  const proxy = await startProxy(t, withFilters(webBootstrap([says('/', 'yes')]), filters));
  const url = await proxy.listenerUrl('web');
  assert.equal(await (await fetch(`${url}/open`)).text(), 'yes');
  assert.equal((await fetch(`${url}/closed`)).status, 403);
  const headers = { origin: 'http://other.test' };
  const post = await fetch(`${url}/open`, { method: 'POST', headers });
  assert.equal(await post.text(), 'Invalid origin');
  const stats = await (await fetch(`${proxy.adminUrl}/stats?filter=rbac|csrf`)).text();
  assert.match(stats, /^http\.web\.rbac\.denied: 1$/m);
  assert.match(stats, /^http\.web\.csrf\.request_invalid: 1$/m);
});

test('basic_auth asks who it is, local_ratelimit how often, header_mutation says more', async (t) => {
  const filters = [
    {
      name: 'basic_auth',
      typed_config: {
        '@type': `${TYPE}.basic_auth.v3.BasicAuth`,
        users: { inline_string: 'user1:{SHA}tESsBmE/yNY3lb6a0L6vVQEZNqw=' },
      },
    },
    {
      name: 'local_ratelimit',
      typed_config: {
        '@type': `${TYPE}.local_ratelimit.v3.LocalRateLimit`,
        stat_prefix: 'rl',
        token_bucket: { max_tokens: 1, fill_interval: '3600s' },
        filter_enabled: { default_value: { numerator: 100 } },
        filter_enforced: { default_value: { numerator: 100 } },
      },
    },
    {
      name: 'header_mutation',
      typed_config: {
        '@type': `${TYPE}.header_mutation.v3.HeaderMutation`,
        mutations: {
          response_mutations: [{ append: { header: { key: 'x-said', value: '%REQ(:PATH)%' } } }],
        },
      },
    },
  ];
  const proxy = await startProxy(t, withFilters(webBootstrap([says('/', 'yes')]), filters));
  const url = await proxy.listenerUrl('web');
  const none = await fetch(`${url}/a`);
  assert.equal(none.status, 401);
  assert.match(none.headers.get('www-authenticate') ?? '', /^Basic realm="http:.*\/a"$/);
  const headers = { authorization: `Basic ${Buffer.from('user1:test1').toString('base64')}` };
  const first = await fetch(`${url}/a`, { headers });
  assert.equal(await first.text(), 'yes');
  assert.equal(first.headers.get('x-said'), '/a');
  assert.equal((await fetch(`${url}/a`, { headers })).status, 429);
});

/** A request to that host, by way of the proxy. */
function getBy(url: string, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers: { host } }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (part: string) => (body += part));
      response.on('end', () => resolve(`${response.statusCode} ${body}`));
    });
    asked.on('error', reject).end();
  });
}

test('requests go to the hosts that they name, which are looked up once', async (t) => {
  const cache = { name: 'cache', dns_lookup_family: 'V4_ONLY' };
  const dfp = {
    name: 'dfp',
    lb_policy: 'CLUSTER_PROVIDED',
    cluster_type: {
      name: 'envoy.clusters.dynamic_forward_proxy',
      typed_config: {
        '@type':
          'type.googleapis.com/envoy.extensions.clusters.dynamic_forward_proxy.v3.ClusterConfig',
        dns_cache_config: cache,
      },
    },
  };
  const server = createServer((_, response) => response.end('one'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const one = (server.address() as AddressInfo).port;
  const web = webBootstrap([toCluster('/', 'dfp')]) as unknown as {
    readonly static_resources: { readonly listeners: readonly object[] };
  };
  const text = JSON.stringify(web.static_resources.listeners).replace(
    '"http_filters":[',
    `"http_filters":[${JSON.stringify({
      name: 'dfp',
      typed_config: {
        '@type':
          'type.googleapis.com/envoy.extensions.filters.http.dynamic_forward_proxy.v3.FilterConfig',
        dns_cache_config: cache,
      },
    })},`,
  );
  const proxy = await startProxy(t, {
    ...web,
    static_resources: {
      listeners: JSON.parse(text) as object[],
      clusters: [dfp],
    },
  });
  const url = await proxy.listenerUrl('web');
  assert.equal(await getBy(url, `localhost:${one}`), '200 one');
  assert.equal(await getBy(url, `localhost:${one}`), '200 one');
  assert.equal(await getBy(url, `127.0.0.1:${one}`), '200 one');
  const stats = await (await fetch(`${proxy.adminUrl}/stats?filter=dns_cache.cache`)).text();
  assert.match(stats, /dns_cache\.cache\.num_hosts: 2\n/);
  assert.match(stats, /dns_cache\.cache\.dns_query_attempt: 2\n/);
});

test('compressor packs answers as clients want them, and decompressor unpacks what hosts send', async (t) => {
  const library = (side: string, coding: string, message: string) => ({
    name: coding,
    typed_config: {
      '@type': `type.googleapis.com/envoy.extensions.compression.${coding}.${side}.v3.${message}`,
    },
  });
  const compressor = (coding: string, message: string): object => ({
    name: coding,
    typed_config: {
      '@type': `${TYPE}.compressor.v3.Compressor`,
      response_direction_config: {},
      compressor_library: library('compressor', coding, message),
    },
  });
  const text = 'a line that is said again and again\n'.repeat(100);
  const filters = [compressor('gzip', 'Gzip'), compressor('brotli', 'Brotli')];
  const proxy = await startProxy(t, withFilters(webBootstrap([says('/', text)]), filters));
  const url = await proxy.listenerUrl('web');
  for (const [accepted, coding] of [
    ['gzip', 'gzip'],
    ['gzip;q=0.5, br', 'br'],
    ['identity', null],
  ] as const) {
    const answer = await fetch(url, { headers: { 'accept-encoding': accepted } });
    assert.equal(answer.headers.get('content-encoding'), coding);
    assert.equal(answer.headers.get('vary'), 'Accept-Encoding');
    assert.equal(await answer.text(), text);
  }
  const stats = await (await fetch(`${proxy.adminUrl}/stats?filter=compressed$`)).text();
  assert.match(stats, /compressor\.gzip\.gzip\.response\.compressed: 1/);
  assert.match(stats, /compressor\.brotli\.brotli\.response\.compressed: 1/);
});

test('custom_response answers in place of what went wrong', async (t) => {
  const status = {
    name: 'status',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.type.matcher.v3.HttpResponseStatusCodeClassMatchInput',
    },
  };
  const policy = {
    name: 'local',
    typed_config: {
      '@type':
        'type.googleapis.com/envoy.extensions.http.custom_response.local_response_policy.v3.LocalResponsePolicy',
      body: { inline_string: 'sorry' },
      body_format: { json_format: { say: '%LOCAL_REPLY_BODY%', code: '%RESPONSE_CODE%' } },
      response_headers_to_add: [{ header: { key: 'x-sorry', value: 'yes' } }],
    },
  };
  const matcher = {
    predicate: { single_predicate: { input: status, value_match: { exact: '4xx' } } },
    on_match: { action: policy },
  };
  const filter = {
    name: 'custom',
    typed_config: {
      '@type': `${TYPE}.custom_response.v3.CustomResponse`,
      custom_response_matcher: { matcher_list: { matchers: [matcher] } },
    },
  };
  const route = { ...says('/', 'no'), direct_response: { status: 404 } };
  const proxy = await startProxy(t, withFilters(webBootstrap([route]), [filter]));
  const answer = await fetch(await proxy.listenerUrl('web'));
  assert.equal(answer.status, 404);
  assert.equal(answer.headers.get('x-sorry'), 'yes');
  assert.deepEqual(await answer.json(), { say: 'sorry', code: 404 });
});

test('bandwidth_limit, admission_control and adaptive_concurrency let pass what they may', async (t) => {
  const filters = [
    {
      name: 'bandwidth',
      typed_config: {
        '@type': `${TYPE}.bandwidth_limit.v3.BandwidthLimit`,
        stat_prefix: 'all',
        enable_mode: 'REQUEST_AND_RESPONSE',
        limit_kbps: 1000,
      },
    },
    {
      name: 'admission',
      typed_config: {
        '@type': `${TYPE}.admission_control.v3.AdmissionControl`,
        success_criteria: { http_criteria: { http_success_status: [{ start: 200, end: 300 }] } },
      },
    },
    {
      name: 'adaptive',
      typed_config: {
        '@type': `${TYPE}.adaptive_concurrency.v3.AdaptiveConcurrency`,
        gradient_controller_config: {
          concurrency_limit_params: { concurrency_update_interval: '0.1s' },
          min_rtt_calc_params: { interval: '60s', request_count: 1 },
        },
      },
    },
  ];
  const proxy = await startProxy(t, withFilters(webBootstrap([says('/', 'yes')]), filters));
  const url = await proxy.listenerUrl('web');
  assert.equal(await (await fetch(url)).text(), 'yes');
  const stats = await (await fetch(`${proxy.adminUrl}/stats`)).text();
  assert.match(stats, /^all\.http_bandwidth_limit\.response_allowed_total_size: 3$/m);
  assert.match(stats, /admission_control\.rq_success: 1$/m);
  assert.match(stats, /gradient_controller\.concurrency_limit: 3$/m);
});
