import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any, compileStatic, issuesOf, socketAddress } from '../helpers.js';

const DNS = 'envoy.extensions.clusters.dns.v3.DnsCluster';
const NAMED = {
  name: 'origin',
  load_assignment: {
    cluster_name: 'origin',
    endpoints: [{ lb_endpoints: [{ endpoint: { address: socketAddress(80, 'a.test') } }] }],
  },
};
const compileTyped = (cluster_type: object, fields: object = {}) =>
  compileStatic({ clusters: [{ ...NAMED, ...fields, cluster_type }] });
const dnsOf = (fields: object, others: object = {}) => {
  const compiled = compileTyped({ name: 'dns', typed_config: any(DNS, fields) }, others);
  assert.deepEqual(issuesOf(compiled), []);
  return compiled.dnsClusters[0];
};

test('the extension for DNS is what the older fields say, which are not asked beside it', () => {
  const plan = dnsOf(
    {
      dns_refresh_rate: 2000,
      dns_failure_refresh_rate: { base_interval: 100 },
      respect_dns_ttl: true,
      dns_jitter: 300,
      dns_min_refresh_rate: 1000,
      dns_lookup_family: 'ALL',
    },
    { dns_refresh_rate: 9000, dns_lookup_family: 'V6_ONLY' },
  );
  assert.equal(plan?.kind, 'strict');
  assert.equal(plan.lookup, 'ALL');
  assert.equal(plan.refreshMs, 2000);
  assert.deepEqual(plan.failureRefresh, { baseMs: 100, maxMs: 1000 });
  assert.equal(plan.respectTtl, true);
  assert.equal(plan.jitterMs, 300);
  assert.equal(plan.minRefreshMs, 1000);
});

test('what it does not say has the usual values; all addresses may be one host', () => {
  const plan = dnsOf({});
  assert.equal(plan?.lookup, 'AUTO');
  assert.equal(plan.refreshMs, 5000);
  assert.equal(plan.jitterMs, 0);
  assert.equal(dnsOf({ all_addresses_in_single_endpoint: true })?.kind, 'logical');
});

test('an extension without a configuration is the type of its name; others are refused by theirs', () => {
  const compiled = compileTyped({ name: 'envoy.cluster.strict_dns' });
  assert.deepEqual(issuesOf(compiled), []);
  assert.equal(compiled.dnsClusters[0]?.kind, 'strict');
  const redis = any('envoy.extensions.clusters.redis.v3.RedisClusterConfig');
  assert.match(
    issuesOf(compileTyped({ name: 'envoy.clusters.redis', typed_config: redis })).join(),
    /cluster_type of envoy\.config\.cluster\.v3\.Cluster is not supported yet .*redis/,
  );
});
