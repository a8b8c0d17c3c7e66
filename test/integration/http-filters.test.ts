// Filters before the router, as an operator uses them.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { says, webBootstrap } from './support/bootstraps.js';
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
