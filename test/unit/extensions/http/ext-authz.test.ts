import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const PACKAGE = 'envoy.extensions.filters.http.ext_authz.v3';
const GRPC = { grpc_service: { envoy_grpc: { cluster_name: 'az' } }, transport_api_version: 'V3' };
const URI = { uri: 'http://az', cluster: 'az', timeout: 2000 };
const authz = (fields: object) => ({
  name: 'az',
  typed_config: any(`${PACKAGE}.ExtAuthz`, fields),
});
const planOf = (fields: object) => compiled([authz(fields)]).filters?.[0]?.ext_authz;
const issuesOf = (fields: object): string => compiled([authz(fields)]).issues.join();

test('a service of gRPC has 200 ms, and is called by the name of its cluster', () => {
  const service = planOf(GRPC)?.service;
  assert.equal(service?.service?.timeout_ms, 200);
  assert.equal(service?.service?.authority, 'az');
  assert.equal(service?.http, undefined);
  assert.equal(planOf(GRPC)?.status_on_error, 403);
});

test('a service of HTTP has paths of its own, one way or the other', () => {
  const http = planOf({ http_service: { server_uri: URI, path_prefix: '/check' } })?.service?.http;
  assert.equal(http?.path_prefix, '/check');
  assert.match(
    issuesOf({ http_service: { server_uri: URI, path_prefix: 'check' } }),
    /path_prefix should start with "\/"/,
  );
  assert.match(
    issuesOf({ http_service: { server_uri: URI, path_prefix: '/a', path_override: '/b' } }),
    /Only one of path_prefix or path_override/,
  );
});

test('headers that are told are said in one place', () => {
  const list = { patterns: [{ exact: 'x-a' }] };
  const both = {
    allowed_headers: list,
    http_service: { server_uri: URI, authorization_request: { allowed_headers: list } },
  };
  assert.match(issuesOf(both), /Invalid duplicate configuration for allowed_headers/);
});

test('the older service is refused', () => {
  assert.match(issuesOf({ ...GRPC, transport_api_version: 'V2' }), /V2 xDS transport protocol/);
});

test('calls are told of in the filter state where that is wanted, and are spans unless they are not', () => {
  const plain = planOf(GRPC);
  assert.equal(plain?.has_filter_state, false);
  assert.equal(plain?.hides_calls, false);
  const figures = planOf({ ...GRPC, emit_filter_state_stats: true, emit_client_span: false });
  assert.equal(figures?.has_filter_state, true);
  assert.equal(figures?.tells_figures, true);
  assert.equal(figures?.hides_calls, true);
  assert.equal(planOf({ ...GRPC, filter_metadata: { a: 'b' } })?.has_filter_state, true);
});

test('a route may hide calls, or show them', () => {
  const route = any(`${PACKAGE}.ExtAuthzPerRoute`, { check_settings: { emit_client_span: true } });
  const { configs } = compiled([authz(GRPC)], { route: { az: route } });
  assert.equal(configs?.[0]?.ext_authz?.hides_calls, false);
});
