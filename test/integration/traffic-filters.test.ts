// Filters that keep requests out, slow them down, pack their bodies or answer in a host’s place.
import assert from 'node:assert/strict';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { says, toCluster, webBootstrap } from './support/bootstraps.js';
import { startProxy } from './support/start-proxy.js';
import { TYPE, withFilters } from './support/filters.js';

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
