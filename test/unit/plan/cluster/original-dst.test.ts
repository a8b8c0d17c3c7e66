import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any, compileStatic, issuesOf } from '../helpers.js';

const CLUSTER = { name: 'origin', type: 'ORIGINAL_DST', lb_policy: 'CLUSTER_PROVIDED' } as const;
const planOf = (fields: object) => {
  const compiled = compileStatic({ clusters: [{ ...CLUSTER, ...fields }] });
  assert.deepEqual(issuesOf(compiled), []);
  assert.deepEqual(compiled.update.assignments, []);
  return compiled.update.clusters?.[0]?.destination_hosts;
};
const refusal = (fields: object) =>
  issuesOf(compileStatic({ clusters: [{ ...CLUSTER, ...fields }] })).join();

test('a cluster of original destinations asks no header unless it is to, and drops hosts after 5 s', () => {
  assert.deepEqual(planOf({}), { header: '', port: undefined, cleanup_interval_ms: 5000 });
  assert.equal(planOf({ original_dst_lb_config: { upstream_port_override: 0 } })?.port, 0);
});

test('its header has a name of its own, or the usual one; port and metadata are passed on', () => {
  assert.equal(
    planOf({ original_dst_lb_config: { use_http_header: true } })?.header,
    'x-envoy-original-dst-host',
  );
  const plan = planOf({
    cleanup_interval: 250,
    original_dst_lb_config: {
      use_http_header: true,
      http_header_name: 'X-Where',
      upstream_port_override: 8443,
      metadata_key: { key: 'envoy.listener', path: [{ key: 'to' }, { key: 'host' }] },
    },
  });
  assert.deepEqual(plan, {
    metadata_namespace: 'envoy.listener',
    metadata_path: 'to\0host',
    header: 'x-where',
    port: 8443,
    cleanup_interval_ms: 250,
  });
});

test('what the real server refuses of such clusters is refused in its words', () => {
  assert.match(
    refusal({ lb_policy: 'ROUND_ROBIN' }),
    /LB policy ROUND_ROBIN is not valid for Cluster type ORIGINAL_DST/,
  );
  const maglev = any('envoy.extensions.load_balancing_policies.maglev.v3.Maglev', {});
  const policies = [{ typed_extension_config: { name: 'x', typed_config: maglev } }];
  assert.match(
    refusal({ load_balancing_policy: { policies } }),
    /cluster provided LB not specified but cluster 'origin' provided one/,
  );
  assert.match(
    refusal({ load_assignment: { cluster_name: 'origin' } }),
    /ORIGINAL_DST clusters must have no load assignment configured/,
  );
  assert.match(
    refusal({ original_dst_lb_config: { http_header_name: 'x' } }),
    /invalid config http_header_name=x and use_http_header is false/,
  );
  assert.match(
    refusal({ type: 'STATIC' }),
    /cluster provided LB specified but cluster 'origin' did not provide one/,
  );
});
