import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile, issuesOf } from './helpers.js';

const LISTENERS = 'xdstp://plane/envoy.config.listener.v3.Listener/web/*';
const CLUSTERS = 'xdstp://plane/envoy.config.cluster.v3.Cluster/web/*';
const ADS = { ads: {}, resource_api_version: 'V3' } as const;
const ads_config = {
  api_type: 'DELTA_GRPC',
  transport_api_version: 'V3',
  grpc_services: [{ envoy_grpc: { cluster_name: 'plane' } }],
} as const;

const bootstrap = (dynamic: object, more: object = {}) =>
  compile({
    node: { id: 'one', cluster: 'many', locality: { zone: 'z&1' }, metadata: { a: 'b', n: 1 } },
    static_resources: {
      clusters: [
        {
          name: 'plane',
          typed_extension_protocol_options: {
            'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
              $type: 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
              explicit_http_config: { http2_protocol_options: {} },
            },
          },
        },
      ],
    },
    dynamic_resources: { ads_config, ...dynamic },
    ...more,
  });

/** Those of a start, too. */
const wrong = (dynamic: object, more: object = {}): string => {
  const compiled = bootstrap(dynamic, more);
  return [...issuesOf(compiled), ...compiled.startIssues.map(({ message }) => message)].join('\n');
};

test('listeners and clusters may be collections, which say who asks', () => {
  const compiled = bootstrap(
    {
      ...{ lds_config: ADS, lds_resources_locator: `${LISTENERS}?x=y` },
      ...{ cds_config: ADS, cds_resources_locator: CLUSTERS },
    },
    { node_context_params: ['id', 'cluster', 'locality.zone', 'locality.region', 'metadata'] },
  );
  assert.deepEqual(issuesOf(compiled), []);
  const context =
    'xds.node.cluster=shop&xds.node.id=shop-1&xds.node.locality.zone=z%261&xds.node.metadata.a=b' +
    '&xds.node.metadata.n=1';
  assert.equal(compiled.cds?.collection, `${CLUSTERS}?${context}`);
  assert.equal(compiled.lds?.collection, `${LISTENERS}?x=y&${context}`);
});

test('what is no locator, or of another type, or comes from elsewhere is refused', () => {
  const lds = (lds_resources_locator: string, more: object = {}): string =>
    wrong({ lds_config: ADS, ...more, lds_resources_locator });
  assert.match(lds('listeners'), /does not have a xdstp:, http: or file: scheme/);
  assert.match(lds('https://a/b'), /collections over HTTP are not supported/);
  assert.match(
    lds(CLUSTERS),
    /xdstp:\/\/ type does not match envoy\.config\.listener\.v3\.Listener/,
  );
  assert.match(lds('file:///no/such/file'), /does not exist/);
  assert.match(lds(LISTENERS, { lds_config: undefined }), /Only ADS and gRPC in delta-xDS mode/);
  const plain = { ads_config: { ...ads_config, api_type: 'GRPC' } };
  assert.match(lds(LISTENERS, plain), /Only ADS and gRPC in delta-xDS mode/);
  const own = {
    api_config_source: { ...ads_config, api_type: 'GRPC' },
    resource_api_version: 'V3',
  };
  assert.match(lds(LISTENERS, { lds_config: own }), /Unknown xdstp:\/\/ transport API type/);
  const params = (name: string) => wrong({}, { node_context_params: [name] });
  assert.match(params('user_agent_version'), /user_agent_version of the node/);
  assert.match(params('nothing'), /^warning .*has no effect/);
});

test('control planes may be held to a number of clusters', () => {
  const config_validators = [
    {
      name: 'least',
      typed_config: {
        $type: 'envoy.extensions.config.validators.minimum_clusters.v3.MinimumClustersValidator',
        min_clusters_num: 2,
      },
    },
  ];
  const compiled = bootstrap({ ads_config: { ...ads_config, config_validators } });
  assert.deepEqual(issuesOf(compiled), []);
  assert.equal(compiled.ads?.minClusters, 2);
  const other = [{ name: 'other', typed_config: { $type: 'google.protobuf.StringValue' } }];
  assert.match(
    wrong({ ads_config: { ...ads_config, config_validators: other } }),
    /the validator 'other' \(google\.protobuf\.StringValue\) is not supported/,
  );
});
