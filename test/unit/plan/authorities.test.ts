import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ARE_USED } from '../../../src/plan/authorities.js';
import { compile, issuesOf } from './helpers.js';

const PLANE = {
  name: 'plane',
  load_assignment: { cluster_name: 'plane' },
  http2_protocol_options: {},
};
const ENDPOINTS = 'envoy.config.endpoint.v3.ClusterLoadAssignment';
const at = (authority: string): string => `xdstp://${authority}/${ENDPOINTS}/web`;

function source(api_type: string, names: readonly string[], more: object = {}): object {
  return {
    api_config_source: {
      api_type,
      transport_api_version: 'V3',
      grpc_services: [{ envoy_grpc: { cluster_name: 'plane' } }],
    },
    authorities: names.map((name) => ({ name })),
    ...more,
  };
}

function compiled(
  config_sources: readonly object[],
  clusters: readonly object[] = [],
  more: object = {},
) {
  return compile({
    node: { id: 'one', cluster: 'many' },
    layered_runtime: { layers: [{ name: 'static', static_layer: { [ARE_USED]: true } }] },
    config_sources,
    static_resources: { clusters: [PLANE, ...clusters] },
    ...more,
  });
}

const edsCluster = (name: string, service_name: string): object => ({
  ...{ name, type: 'EDS', eds_cluster_config: { service_name } },
});

test('resources with xdstp names come from whoever knows their authority, or by default', () => {
  const result = compiled(
    [
      source('AGGREGATED_GRPC', ['a', 'b'], { initial_fetch_timeout: 2000 }),
      source('AGGREGATED_DELTA_GRPC', ['c']),
    ],
    ['b', 'c', 'd'].map((name) => edsCluster(name, at(name))),
    { default_config_source: source('AGGREGATED_GRPC', []) },
  );
  assert.deepEqual(issuesOf(result), []);
  assert.deepEqual(
    result.eds.map((one) => one.source),
    [
      { kind: 'ads', authority: 0, initialFetchTimeoutMs: 2000 },
      { kind: 'ads', authority: 1, initialFetchTimeoutMs: 15_000 },
      { kind: 'ads', authority: 2, initialFetchTimeoutMs: 15_000 },
    ],
  );
  assert.deepEqual(
    result.authorities.map(({ isDelta }) => isDelta),
    [false, true, false],
  );
});

test('without the feature their streams are there, and nobody is asked', () => {
  const result = compiled([source('AGGREGATED_GRPC', ['a'])], [edsCluster('web', at('a'))], {
    layered_runtime: {},
  });
  assert.match(issuesOf(result).join(), /Missing config source specifier/);
  assert.equal(result.authorities.length, 1);
});

test('sources that are none are refused', () => {
  const wrong = (one: object): string => issuesOf(compiled([one])).join('\n');
  assert.match(wrong({ ads: {} }), /Only api_config_source type is currently supported/);
  assert.match(wrong(source('AGGREGATED_GRPC', [])), /must have at least one authority/);
  assert.match(
    wrong(source('AGGREGATED_GRPC', ['a', 'a'])),
    /authority a is configured more than once/,
  );
  assert.match(
    wrong(source('GRPC', ['a'])),
    /only supports AGGREGATED_GRPC and AGGREGATED_DELTA_GRPC/,
  );
});
