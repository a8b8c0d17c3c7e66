import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any, compileStatic, connectionManager, issuesOf, listenerOf, ROUTER } from '../helpers.js';

const TYPE = 'envoy.extensions.filters.http.ext_authz.v3.ExtAuthz';

function compiled(google: object, more: object = {}) {
  const grpc_service = {
    google_grpc: { stat_prefix: 'g', target_uri: 'a.test:1', ...google },
    ...more,
  };
  const filter = { name: 'az', typed_config: any(TYPE, { grpc_service }) };
  const routes = [{ match: { prefix: '/' }, direct_response: { status: 200 } }];
  const manager = connectionManager(
    { virtual_hosts: [{ name: 'all', domains: ['*'], routes }] },
    { http_filters: [filter, ROUTER] },
  );
  const result = compileStatic({ listeners: [listenerOf(manager)] });
  const http = result.update.listeners?.[0]?.filter_chains?.[0]?.http;
  return {
    issues: issuesOf(result),
    service: http?.http_filters?.[0]?.ext_authz?.service?.service,
    clusters: result.update.clusters ?? [],
    assignments: result.update.assignments ?? [],
    dns: result.hiddenDns,
    result,
  };
}

test('a service of google_grpc has a cluster of its own, which no page shows', () => {
  const { service, clusters, dns, result, issues } = compiled({});
  assert.deepEqual(issues, []);
  assert.equal(clusters.length, 1);
  assert.equal(clusters[0]?.is_hidden, true);
  assert.equal(clusters[0]?.observability_name, undefined);
  assert.equal(service?.cluster, clusters[0]?.name);
  assert.equal(service?.authority, 'a.test:1');
  assert.equal(service?.stat_prefix, 'g');
  assert.equal(service?.is_internal, undefined);
  assert.equal(dns[0]?.endpoints[0]?.hostname, 'a.test');
  assert.deepEqual(result.dnsClusters, []);
});

test('targets are names and addresses, as the gRPC library spells them', () => {
  assert.equal(compiled({ target_uri: 'dns:///a.test:2' }).dns[0]?.endpoints[0]?.port, 2);
  assert.equal(compiled({ target_uri: 'a.test' }).dns[0]?.endpoints[0]?.port, 443);
  const ip = compiled({ target_uri: '127.0.0.1:3' });
  assert.equal(ip.assignments[0]?.hosts?.[0]?.address?.port, 3);
  assert.equal(compiled({ target_uri: 'ipv6:[::1]:4' }).assignments.length, 1);
  const pipe = compiled({ target_uri: 'unix:/tmp/a' });
  assert.equal(pipe.assignments[0]?.hosts?.[0]?.address?.pipe, '/tmp/a');
  assert.match(
    compiled({ target_uri: 'xds:///a' }).issues.join(),
    /'xds:\/\/\/a' is not supported/,
  );
});

test('its credentials are those of TLS, and tokens go along', () => {
  const ssl = { channel_credentials: { ssl_credentials: {} } };
  const { service, clusters, issues } = compiled({
    ...ssl,
    call_credentials: [{ access_token: 'secret' }],
    channel_args: { args: { 'grpc.default_authority': { string_value: 'b.test' } } },
  });
  assert.deepEqual(issues, []);
  assert.notEqual(clusters[0]?.tls, undefined);
  assert.equal(service?.authority, 'b.test');
  const token = service?.metadata?.find(({ name }) => name === 'authorization');
  assert.equal(token?.value?.pieces?.[0]?.argument, 'Bearer secret');
  assert.match(
    compiled({ call_credentials: [{ access_token: 'secret' }] }).issues.join(),
    /only sent over TLS/,
  );
  assert.match(
    compiled({ channel_credentials: { google_default: {} } }).issues.join(),
    /default credentials are not supported/,
  );
});
