// What is counted where there is nothing to connect to, or from.
import assert from 'node:assert/strict';
import { get } from 'node:http';
import { test } from 'node:test';
import { cluster, toCluster, webListener, webRoutes, ADMIN_ONLY } from './support/bootstraps.js';
import { startProxy } from './support/start-proxy.js';
import { statText } from './support/stats.js';

const FILTERS = 'type.googleapis.com/envoy.extensions.filters';

test('a connection of HTTP/2 that cannot be bound was there for a moment', async (t) => {
  const proxy = await startProxy(t, {
    ...ADMIN_ONLY,
    static_resources: {
      listeners: [webListener({ route_config: webRoutes([toCluster('/', 'far')]) }, 0)],
      clusters: [
        {
          ...cluster('far', 1),
          http2_protocol_options: {},
          // Nobody's (RFC 5737).
          upstream_bind_config: { source_address: { address: '192.0.2.1', port_value: 0 } },
        },
      ],
    },
  });
  assert.equal((await fetch(await proxy.listenerUrl('web'))).status, 503);
  assert.equal(await statText(proxy, 'cluster.far.bind_errors'), '1');
  assert.equal(await statText(proxy, 'cluster.far.upstream_cx_http2_total'), '1');
  assert.equal(await statText(proxy, 'cluster.far.http2.nghttp2_upstream_connections'), '1');
});

test('names that requests have are looked up, which is counted, addresses too', async (t) => {
  const dns_cache_config = { name: 'names', dns_lookup_family: 'V4_ONLY' };
  const listener = webListener({ route_config: webRoutes([toCluster('/', 'far')]) }, 0);
  const text = JSON.stringify(listener).replace(
    '"http_filters":[',
    `"http_filters":[${JSON.stringify({
      name: 'forward',
      typed_config: {
        '@type': `${FILTERS}.http.dynamic_forward_proxy.v3.FilterConfig`,
        dns_cache_config,
      },
    })},`,
  );
  const proxy = await startProxy(t, {
    ...ADMIN_ONLY,
    static_resources: {
      listeners: [JSON.parse(text) as object],
      clusters: [
        {
          name: 'far',
          lb_policy: 'CLUSTER_PROVIDED',
          cluster_type: {
            name: 'envoy.clusters.dynamic_forward_proxy',
            typed_config: {
              '@type':
                'type.googleapis.com/envoy.extensions.clusters.dynamic_forward_proxy.v3.ClusterConfig',
              dns_cache_config,
            },
          },
        },
      ],
    },
  });
  assert.equal(await statText(proxy, 'dns.cares.resolve_total'), '0');
  const { host } = new URL(proxy.adminUrl);
  const url = await proxy.listenerUrl('web');
  const status = await new Promise<number | undefined>((answered, failed) => {
    get(`${url}/ready`, { headers: { host } }, (answer) => {
      answer.resume();
      answered(answer.statusCode);
    }).on('error', failed);
  });
  assert.equal(status, 200);
  assert.equal(await statText(proxy, 'dns.cares.resolve_total'), '1');
});
