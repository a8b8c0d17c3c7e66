import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any, compileStatic, issuesOf } from '../helpers.js';

const TYPE = 'envoy.extensions.clusters.dynamic_forward_proxy.v3.ClusterConfig';
const cluster = (name: string, config: object, fields: object = {}) => ({
  name,
  lb_policy: 'CLUSTER_PROVIDED' as const,
  cluster_type: { name: 'envoy.clusters.dynamic_forward_proxy', typed_config: any(TYPE, config) },
  ...fields,
});
const compileOne = (config: object, fields: object = {}) =>
  compileStatic({ clusters: [cluster('dfp', config, fields)] });
const refusal = (config: object, fields: object = {}) =>
  issuesOf(compileOne(config, fields)).join();

test('a forward proxy looks names up in its cache, as often and as many as that says', () => {
  const compiled = compileOne({
    dns_cache_config: {
      name: 'c',
      dns_lookup_family: 'V4_ONLY',
      host_ttl: 60_000,
      max_hosts: 7,
      dns_cache_circuit_breaker: { max_pending_requests: 3 },
      preresolve_hostnames: [{ address: 'a.test', port_value: 80 }],
    },
  });
  assert.deepEqual(issuesOf(compiled), []);
  const { named_hosts: hosts, auto_sni, auto_san_validation } = compiled.update.clusters?.[0] ?? {};
  assert.deepEqual(hosts, { cache: 'c', default_port: 80 });
  assert.deepEqual([auto_sni, auto_san_validation], [true, true]);
  assert.deepEqual(compiled.update.name_caches, [
    { name: 'c', stat_prefix: 'dns_cache.c.', max_names: 7, max_pending: 3 },
  ]);
  const [plan] = compiled.context.names.hosts;
  assert.equal(plan?.lookup, 'V4_ONLY');
  assert.equal(plan.ttlMs, 60_000);
  assert.equal(plan.refreshMs, 60_000);
  assert.deepEqual(plan.atOnce, [{ host: 'a.test', port: 80 }]);
});

test('one cache has the same settings wherever it is named', () => {
  const compiled = compileStatic({
    clusters: [
      cluster('a', { dns_cache_config: { name: 'c' } }),
      cluster('b', { dns_cache_config: { name: 'c', max_hosts: 3 } }),
    ],
  });
  assert.match(issuesOf(compiled).join(), /config specified DNS cache 'c' with different settings/);
});

test('a name may be a cluster of its own, which is compiled when it is asked for', () => {
  const compiled = compileOne({ sub_clusters_config: { max_sub_clusters: 2 } });
  assert.deepEqual(issuesOf(compiled), []);
  const [named] = compiled.named;
  assert.equal(named?.kind, 'clusters');
  const { plan, message } =
    (named?.kind === 'clusters' && named.clusters.compile({ host: 'a.test', port: 81 })) || {};
  assert.equal(message?.name, 'DFPCluster:a.test:81');
  assert.equal(plan?.cluster.name, 'DFPCluster:a.test:81');
  assert.equal(plan?.dns?.endpoints[0]?.hostname, 'a.test');
  assert.equal(plan?.cluster.named_hosts, undefined);
});

test('what the real server refuses of it is refused in its words', () => {
  assert.match(
    refusal({ dns_cache_config: { name: 'c' } }, { lb_policy: 'ROUND_ROBIN' }),
    /cluster provided LB not specified but cluster 'dfp' provided one/,
  );
  const sni = { upstream_http_protocol_options: { auto_sni: true } };
  assert.match(
    refusal({ dns_cache_config: { name: 'c' } }, sni),
    /must have auto_sni and auto_san_validation true unless allow_insecure_cluster_options is set/,
  );
  assert.equal(
    refusal({ dns_cache_config: { name: 'c' }, allow_insecure_cluster_options: true }, sni),
    '',
  );
  const many = [1, 2].map((port) => ({ address: 'a', port_value: port }));
  assert.match(
    refusal({ dns_cache_config: { name: 'c', max_hosts: 1, preresolve_hostnames: many } }),
    /configured with preresolve_hostnames=2 larger than max_hosts=1/,
  );
  assert.match(
    refusal({ dns_cache_config: { name: 'c', key_value_config: { config: { name: 'k' } } } }),
    /key_value_config of .*DnsCacheConfig is not supported yet/,
  );
});

test('clusters of names choose their hosts by themselves', () => {
  assert.match(
    refusal({ sub_clusters_config: { lb_policy: 'CLUSTER_PROVIDED' } }),
    /unsupported lb_policy 'CLUSTER_PROVIDED' in sub_cluster_config/,
  );
});
