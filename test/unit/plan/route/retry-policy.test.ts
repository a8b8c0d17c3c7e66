import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { envoy_config_route_v3_VirtualHost as VirtualHost } from '../../../../build/messages.gen.js';
import type { ClusterAction } from '../../../../src/plan/plan.gen.js';
import {
  any,
  compileOneRoute,
  compileStatic,
  connectionManager,
  issuesOf,
  listenerOf,
} from '../helpers.js';

const POLICY = 'envoy.config.route.v3.RetryPolicy';
const PREVIOUS = {
  name: 'previous',
  typed_config: any('envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate'),
};

const retryOf = (policy: object): ReturnType<typeof compileOneRoute> =>
  compileOneRoute({ route: { cluster: 'origin', retry_policy: policy } });

/** What a virtual host makes of routes that say this. */
function routesOf(host: VirtualHost, ...actions: object[]): (ClusterAction | undefined)[] {
  const routes = actions.map((action) => ({
    match: { prefix: '/' },
    route: { cluster: 'origin', ...action },
  }));
  const virtual_hosts = [{ name: 'all', domains: ['*'], ...host, routes }];
  const compiled = compileStatic({
    clusters: [{ name: 'origin' }],
    listeners: [listenerOf(connectionManager({ virtual_hosts }))],
  });
  assert.deepEqual(issuesOf(compiled), []);
  const plans = compiled.update.route_tables?.[0]?.virtual_hosts?.[0]?.routes ?? [];
  return plans.map((route) => route.cluster);
}

test('a policy has the defaults of the real server', () => {
  const { route, issues } = retryOf({ retry_on: '5xx,cancelled' });
  assert.deepEqual(issues, []);
  const retry = route?.cluster?.retry;
  assert.equal(retry?.retry_on, '5xx,cancelled');
  assert.equal(retry.num_retries, 1);
  assert.equal(retry.base_interval_ms, undefined);
  assert.equal(retry.hosts, undefined);
  assert.equal(route?.cluster?.hedge_on_per_try_timeout, undefined);
});

test('retries may go to other clusters of the route', () => {
  const { route, issues } = retryOf({ refresh_cluster_on_retry: true });
  assert.deepEqual(issues, []);
  assert.equal(route?.cluster?.retry?.refreshes_cluster, true);
});

test('less than a millisecond between tries counts as one; less than the base is refused', () => {
  const fast = retryOf({ retry_back_off: { base_interval: 0.2, max_interval: 0.5 } });
  assert.deepEqual(fast.issues, []);
  assert.equal(fast.route?.cluster?.retry?.base_interval_ms, 1);
  assert.equal(fast.route.cluster.retry.max_interval_ms, 1);
  assert.deepEqual(retryOf({ retry_back_off: { base_interval: 20, max_interval: 10 } }).issues, [
    'error routes[0].route.retry_policy.retry_back_off.max_interval: retry_policy.max_interval must greater than or equal to the base_interval',
  ]);
});

test('a word that is no reason for a retry is told, with the nearest one', () => {
  assert.deepEqual(retryOf({ retry_on: '5xx, conect-failure' }).issues, [
    "warning routes[0].route.retry_policy.retry_on: 'conect-failure' is no reason for a retry (connect-failure?)",
  ]);
});

test('what a virtual host says counts for its routes that say nothing', () => {
  const [plain, own] = routesOf(
    {
      retry_policy: { retry_on: 'reset' },
      hedge_policy: { hedge_on_per_try_timeout: true },
      per_request_buffer_limit_bytes: 10,
    },
    {},
    { retry_policy_typed_config: any(POLICY, { num_retries: 4 }), hedge_policy: {} },
  );
  assert.equal(plain?.retry?.retry_on, 'reset');
  assert.equal(plain.hedge_on_per_try_timeout, true);
  assert.equal(plain.body_limit_bytes, 10);
  assert.equal(own?.retry?.num_retries, 4);
  assert.equal(own.retry.retry_on, undefined);
  assert.equal(own.hedge_on_per_try_timeout, false);
  const [larger] = routesOf(
    { per_request_buffer_limit_bytes: 10, request_body_buffer_limit: 1_000_000 },
    {},
  );
  assert.equal(larger?.body_override_bytes, 1_000_000);
  assert.equal(larger.body_limit_bytes, undefined);
});

test('predicates of hosts and priorities are gathered in one', () => {
  const { route, issues } = retryOf({
    retry_host_predicate: [
      PREVIOUS,
      {
        name: 'labels',
        typed_config: any(
          'envoy.extensions.retry.host.omit_host_metadata.v3.OmitHostMetadataConfig',
          {
            metadata_match: {
              filter_metadata: { 'envoy.lb': { stage: 'old', tier: { b: 1, a: 2 } } },
            },
          },
        ),
      },
    ],
    retry_priority: {
      name: 'priorities',
      typed_config: any(
        'envoy.extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig',
        { update_frequency: 2 },
      ),
    },
    host_selection_retry_max_attempts: 5,
  });
  assert.deepEqual(issues, []);
  assert.deepEqual(route?.cluster?.retry?.hosts, {
    avoid_previous: true,
    avoid_labelled: [{ labels: ['stage="old"', 'tier={"a":2,"b":1}'] }],
    priorities_every: 2,
    more_choices: 5,
  });
});

test('a predicate that nobody knows is refused by its name', () => {
  const typed_config = any('envoy.extensions.retry.host.nearest.v3.Nearest');
  assert.match(
    retryOf({ retry_host_predicate: [{ name: 'nearest', typed_config }] }).issues.join(),
    /Didn't find a registered implementation for 'nearest' with type URL: '.*Nearest'/,
  );
});

test('hosts have the labels that predicates ask for; a list has one for each of its values', () => {
  const endpoint = { address: { socket_address: { address: '127.0.0.1', port_value: 1 } } };
  const metadata = { filter_metadata: { 'envoy.lb': { zones: ['a', 'b'], stage: 'old' } } };
  const compiled = compileStatic({
    clusters: [
      {
        name: 'origin',
        load_assignment: {
          cluster_name: 'origin',
          endpoints: [{ lb_endpoints: [{ endpoint, metadata }, { endpoint }] }],
        },
      },
    ],
  });
  assert.deepEqual(
    compiled.update.assignments?.[0]?.hosts?.map((host) => host.labels),
    [['zones="a"', 'zones="b"', 'stage="old"'], undefined],
  );
});

test('a budget for retries has the defaults of the real server', () => {
  const thresholds = [
    { retry_budget: {} },
    {
      priority: 'HIGH' as const,
      retry_budget: { budget_percent: { value: 12.5 }, min_retry_concurrency: 7 },
    },
  ];
  const compiled = compileStatic({
    clusters: [{ name: 'origin', circuit_breakers: { thresholds } }],
  });
  assert.deepEqual(
    compiled.update.clusters?.[0]?.limits?.map((limits) => limits.retry_budget),
    [
      { share_millionths: 200_000, min_concurrency: 3, interval_ms: 0 },
      { share_millionths: 125_000, min_concurrency: 7, interval_ms: 0 },
    ],
  );
});
