import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { envoy_config_endpoint_v3_ClusterLoadAssignment as ClusterLoadAssignment } from '../../../../build/messages.gen.js';
import { compileHosts } from '../../../../src/plan/cluster/assignment.js';
import type { ClusterPlan } from '../../../../src/plan/cluster/cluster-plan.js';
import { Place } from '../../../../src/plan/message/place.js';
import { awaiting, type HostSources } from '../../../../src/xds/clusters.js';
import { areOfOneShape } from '../../support/shapes.js';

const MANY = 20;

const assignment = (port: number): ClusterLoadAssignment => {
  const address = { socket_address: { address: '127.0.0.1', port_value: port } };
  return { cluster_name: 'a', endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }] };
};

test('copies of what has many fields have shapes of their own, which is why none is made', () => {
  const fields = Array.from({ length: 50 }, (_, index) => [`field_${index}`, index]);
  const whole = Object.fromEntries(fields) as object;
  const copies = Array.from({ length: MANY }, () => ({ ...whole, more: true }));
  assert.equal(areOfOneShape(copies), false);
});

test('hosts have one shape', () => {
  const hosts = Array.from(
    { length: MANY },
    (_, index) => compileHosts(assignment(index + 1), Place.root([])).all[0] ?? assert.fail(),
  );
  assert.equal(areOfOneShape(hosts), true);
});

test('clusters on their way to the data plane have the shape of their plans', () => {
  const sources = { awaits: () => true } as Partial<HostSources> as HostSources;
  const plans = Array.from({ length: MANY }, (_, index) => {
    const cluster = { name: `c${index}`, awaits_hosts: false };
    return { cluster, sockets: [] } as Partial<ClusterPlan> as ClusterPlan;
  });
  const clusters = plans.map((plan) => awaiting(plan, sources));
  assert.ok(clusters.every((one) => one.awaits_hosts));
  assert.equal(areOfOneShape([...clusters, ...plans.map(({ cluster }) => cluster)]), true);
});
