// Filters that each try passes on its way to a host, as an operator configures and watches them.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { cluster, webBootstrap } from './support/bootstraps.js';
import { startProxy } from './support/start-proxy.js';

const HTTP = 'type.googleapis.com/envoy.extensions.filters.http';
const CODEC = {
  name: 'codec',
  typed_config: { '@type': `${HTTP}.upstream_codec.v3.UpstreamCodec` },
};

/** Overwrites: a try starts with the headers that the one before it left. */
function set(key: string, value: string): object {
  return { append: { header: { key, value }, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' } };
}

test('each try passes the filters of its cluster, with what its route says of them', async (t) => {
  const tries: unknown[] = [];
  const server = createServer((request, response) => {
    tries.push(request.headers['x-try']);
    response.writeHead(tries.length === 1 ? 503 : 200).end('done');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const policy = { retry_on: '5xx', retry_back_off: { base_interval: '0.001s' } };
  const perRoute = {
    '@type': `${HTTP}.header_mutation.v3.HeaderMutationPerRoute`,
    mutations: { response_mutations: [set('x-route', 'yes')] },
  };
  const route = {
    match: { prefix: '/' },
    route: { cluster: 'filtered', retry_policy: policy },
    typed_per_filter_config: { changes: perRoute },
  };
  const bootstrap = structuredClone(webBootstrap([route], { filtered: port })) as unknown as {
    static_resources: { clusters: object[] };
  };
  const mutations = {
    request_mutations: [set('x-try', 'try %UPSTREAM_REQUEST_ATTEMPT_COUNT%')],
    response_mutations: [set('x-filtered', 'yes')],
  };
  const options = {
    '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
    explicit_http_config: { http_protocol_options: {} },
    http_filters: [
      {
        name: 'changes',
        typed_config: { '@type': `${HTTP}.header_mutation.v3.HeaderMutation`, mutations },
      },
      CODEC,
    ],
  };
  bootstrap.static_resources.clusters = [
    {
      ...cluster('filtered', port),
      typed_extension_protocol_options: {
        'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': options,
      },
    },
  ];
  const proxy = await startProxy(t, bootstrap);
  const response = await fetch(await proxy.listenerUrl('web'));
  assert.equal(response.status, 200);
  assert.equal(await response.text(), 'done');
  assert.equal(response.headers.get('x-filtered'), 'yes');
  assert.equal(response.headers.get('x-route'), 'yes');
  assert.deepEqual(tries, ['try 1', 'try 2']);
});
