import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import type { envoy_config_bootstrap_v3_Bootstrap as Bootstrap } from '../../../build/messages.gen.js';
import { REGISTRY } from '../../../src/extensions/registry.js';
import { compileBootstrap } from '../../../src/plan/compile.js';
import { RuntimeValues } from '../../../src/plan/runtime/runtime.js';
import {
  any,
  compile,
  compileStatic,
  connectionManager,
  issuesOf,
  listenerOf,
  socketAddress,
} from './helpers.js';

const HCM = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';
const HEALTH_CHECK = 'envoy.extensions.filters.http.health_check.v3.HealthCheck';
const HERE = fileURLToPath(import.meta.url);
const source = (path = HERE): object => ({
  path_config_source: { path },
  resource_api_version: 'V3',
});

function managerOf(statPrefix: string, rds: object, filters: readonly string[] = []): object {
  const http_filters = [
    ...filters.map((name) => ({
      name,
      typed_config: any(HEALTH_CHECK, {
        pass_through_mode: false,
      }),
    })),
    {
      name: 'envoy.filters.http.router',
      typed_config: any('envoy.extensions.filters.http.router.v3.Router', {}),
    },
  ];
  const typed_config = any(HCM, { stat_prefix: statPrefix, rds, http_filters });
  return {
    filters: [{ name: 'envoy.filters.network.http_connection_manager', typed_config }],
  };
}

function compileManagers(...managers: readonly object[]) {
  const listeners = managers.map((chain, index) => ({
    name: `l${index}`,
    address: socketAddress(0),
    filter_chains: [chain],
  }));
  const compiled = compileStatic({ listeners });
  const slots = (compiled.update.listeners ?? []).map(
    (listener) => listener.filter_chains?.[0]?.http?.route_table,
  );
  return { compiled, slots, issues: issuesOf(compiled) };
}

const rds = (name: string, path?: string): object => ({
  route_config_name: name,
  config_source: source(path),
});

test('managers that ask for the same routes share one subscription; filters need tables of their own', () => {
  const { compiled, slots, issues } = compileManagers(
    managerOf('a', rds('web')),
    managerOf('b', rds('web')),
    managerOf('c', rds('web'), ['health']),
    managerOf('d', rds('other')),
  );
  assert.deepEqual(issues, []);
  assert.deepEqual(slots, ['web', 'web', 'web#2', 'other']);
  const file = { kind: 'file', path: HERE, watchesWrites: false };
  assert.deepEqual(compiled.context.routes.requests, [
    {
      name: 'web',
      source: file,
      statPrefix: 'a',
      tables: [
        { slot: 'web', chain: [], users: 2 },
        { slot: 'web#2', chain: [{ name: 'health', type: HEALTH_CHECK }], users: 1 },
      ],
    },
    {
      name: 'other',
      source: file,
      statPrefix: 'd',
      tables: [{ slot: 'other', chain: [], users: 1 }],
    },
  ]);
});

test('a cluster of EDS asks for its service name, or for its own', () => {
  const eds = (fields: object) => ({ type: 'EDS', eds_cluster_config: fields }) as const;
  const compiled = compileStatic({
    clusters: [
      { name: 'a', ...eds({ eds_config: source(), service_name: 'svc' }) },
      { name: 'b', ...eds({ eds_config: { path: HERE } }) },
    ],
  });
  assert.deepEqual(issuesOf(compiled), []);
  assert.deepEqual(
    compiled.eds.map(({ cluster, serviceName }) => [cluster, serviceName]),
    [
      ['a', 'svc'],
      ['b', ''],
    ],
  );
  assert.deepEqual(compiled.update.assignments, []);
  assert.deepEqual(
    compiled.update.clusters?.map(({ is_discovered }) => is_discovered),
    [true, true],
  );
});

test('a node that has no name of its own cannot ask for resources', () => {
  const clusters = [
    { name: 'c', type: 'EDS', eds_cluster_config: { eds_config: source() } },
  ] as const;
  const compiled = compileBootstrap(
    { static_resources: { clusters } },
    {
      runtime: new RuntimeValues(),
      serviceCluster: '',
      serviceNode: '',
      localAddress: '192.0.2.1',
      extensions: REGISTRY,
    },
  );
  assert.match(issuesOf(compiled).join('\n'), /eds_config: .*node 'id' and 'cluster' are required/);
});

test('what cannot be followed is refused with its place', () => {
  const cases: readonly (readonly [cluster: object, said: RegExp])[] = [
    [{ type: 'EDS' }, /eds_cluster_config: cannot create an EDS cluster without an EDS config/],
    [
      { eds_cluster_config: { eds_config: source() } },
      /eds_cluster_config set in a non-EDS cluster/,
    ],
    [
      { type: 'EDS', eds_cluster_config: { eds_config: source('/no/such') } },
      /eds_config\.path_config_source\.path: .*'\/no\/such' does not exist/,
    ],
    [
      {
        type: 'EDS',
        eds_cluster_config: { eds_config: { path: HERE, resource_api_version: 'V2' } },
      },
      /resource_api_version: resources of the v2 API are not there any more/,
    ],
  ];
  for (const [fields, said] of cases) {
    const compiled = compileStatic({ clusters: [{ name: 'c', ...fields }] });
    assert.match(issuesOf(compiled).join('\n'), said);
  }
});

test('that there is no aggregated stream is found out by a start alone', () => {
  const eds = { type: 'EDS' as const, eds_cluster_config: { eds_config: { ads: {} } } };
  const { issues, startIssues } = compileStatic({ clusters: [{ name: 'c', ...eds }] });
  assert.deepEqual(issues, []);
  assert.match(
    startIssues.map(({ path, message }) => `${path}: ${message}`).join('\n'),
    /eds_config\.ads: ADS must be configured to support an ADS config source/,
  );
});

test('control planes of the v2 API, limits without end and sources that are none are refused', () => {
  const api = {
    ...{ api_type: 'GRPC', transport_api_version: 'V3' },
    grpc_services: [{ google_grpc: { target_uri: '127.0.0.1:1', stat_prefix: 'g' } }],
  };
  const static_resources = { clusters: [{ name: 'a' }] };
  const refused = (more: object): string => {
    const dynamic_resources = { ads_config: { ...api, ...more } };
    return issuesOf(compile({ dynamic_resources, static_resources } as Bootstrap)).join('\n');
  };
  assert.equal(refused({}), '');
  assert.match(refused({ transport_api_version: 'V2' }), /V2 xDS transport protocol version/);
  assert.match(
    refused({ rate_limit_settings: { fill_rate: Infinity } }),
    /must not be NaN nor Inf/,
  );
  const pauses = (base_interval: number, max_interval?: number): object => ({
    grpc_services: [
      {
        envoy_grpc: {
          cluster_name: 'a',
          retry_policy: { retry_back_off: { base_interval, max_interval } },
        },
      },
    ],
  });
  const shortest = /retry_back_off\.max_interval: max_interval must be greater than or equal/;
  assert.match(refused(pauses(1000, 900)), shortest);
  assert.equal(refused(pauses(1000, 1000)), '');
  assert.equal(refused(pauses(1000)), '');
  const layers = [{ name: 'far', rtds_layer: { name: 'x' } }];
  const missing = issuesOf(compile({ layered_runtime: { layers } } as Bootstrap)).join('\n');
  assert.match(missing, /Missing config source specifier/);
  const inTable = (config_source: object): string =>
    issuesOf(
      compileStatic({
        listeners: [listenerOf(connectionManager({ name: 'local', vhds: { config_source } }))],
      }),
    ).join('\n');
  assert.match(inTable({ ads: {} }), /vhds: ADS config source specified but no ADS configured/);
  assert.match(inTable(source()), /vhds: only 'DELTA_GRPC' or 'ADS'/);
  const delta = { ...api, api_type: 'DELTA_GRPC' };
  assert.equal(inTable({ resource_api_version: 'V3', api_config_source: delta }), '');
});
