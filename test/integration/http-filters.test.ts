// Filters before the router, as an operator uses them.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { says, toCluster, webBootstrap } from './support/bootstraps.js';
import { makeFolder, startProxy } from './support/start-proxy.js';
import { TYPE, behind, withFilters } from './support/filters.js';

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

test('a request that goes in a circle of CDNs, or brings too much, is refused', async (t) => {
  const filters = [
    {
      name: 'cdn_loop',
      typed_config: { '@type': `${TYPE}.cdn_loop.v3.CdnLoopConfig`, cdn_id: 'mine' },
    },
    {
      name: 'body_size_limit',
      typed_config: { '@type': `${TYPE}.body_size_limit.v3.BodySizeLimit`, max_request_bytes: 4 },
    },
  ];
  const proxy = await startProxy(t, withFilters(webBootstrap([says('/', 'yes')]), filters));
  const url = await proxy.listenerUrl('web');
  const statusOf = async (init: RequestInit): Promise<number> => (await fetch(url, init)).status;
  assert.equal(await statusOf({ headers: { 'cdn-loop': 'theirs; a="b"' } }), 200);
  assert.equal(await statusOf({ headers: { 'cdn-loop': 'theirs, mine' } }), 502);
  assert.equal(await statusOf({ headers: { 'cdn-loop': '(' } }), 400);
  assert.equal(await statusOf({ method: 'POST', body: 'four' }), 200);
  assert.equal(await statusOf({ method: 'POST', body: 'fives' }), 413);
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

test('original_src: a host is connected to from the address of the client', async (t) => {
  const origin = createServer((request, response) => response.end(request.socket.remoteAddress));
  t.after(() => origin.close());
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const { port } = origin.address() as AddressInfo;
  const filter = {
    name: 'src',
    typed_config: { '@type': `${TYPE}.original_src.v3.OriginalSrc` },
  };
  const bootstrap = webBootstrap([toCluster('/', 'origin')], { origin: port });
  const proxy = await startProxy(t, withFilters(bootstrap, [filter]));
  const url = await proxy.listenerUrl('web');
  for (const client of ['127.0.0.7', '127.0.0.8', '127.0.0.7']) {
    const answer = await fetch(url, { headers: { 'x-forwarded-for': client } });
    const host = await answer.text();
    if (answer.status === 200) assert.equal(host, client);
    // Nobody but root may say so.
    else assert.equal(answer.status, 503);
  }
});
