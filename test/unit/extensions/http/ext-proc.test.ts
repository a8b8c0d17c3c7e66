import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProcessingAttribute_Kind } from '../../../../src/plan/plan.gen.js';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const PACKAGE = 'envoy.extensions.filters.http.ext_proc.v3';
const GRPC = { grpc_service: { envoy_grpc: { cluster_name: 'ext' } } };
const HTTP = {
  http_service: {
    http_service: {
      http_uri: { uri: 'http://a.test/b', cluster: 'a', timeout: 1000 },
      request_headers_to_add: [{ header: { key: 'x-a', value: 'b' } }],
    },
  },
};
const proc = (fields: object) => ({
  name: 'ext',
  typed_config: any(`${PACKAGE}.ExternalProcessor`, fields),
});
const planOf = (fields: object) => compiled([proc({ ...GRPC, ...fields })]).filters?.[0]?.ext_proc;
const issuesOf = (fields: object): string => compiled([proc(fields)]).issues.join();
const byRoute = (fields: object) => {
  const ext = any(`${PACKAGE}.ExtProcPerRoute`, fields);
  return compiled([proc(GRPC)], { route: { ext } });
};

test('heads are told, bodies are not, and each answer has 200 ms', () => {
  const plan = planOf({});
  assert.equal(plan?.message_timeout_ms, 200);
  assert.equal(plan?.deferred_close_ms, 5000);
  assert.equal(plan?.status_on_error, 500);
  assert.equal(plan?.mode?.request_body, 0);
  assert.notEqual(plan?.rules, undefined);
  assert.equal(plan?.service?.timeout_ms, 0);
});

test('there is one service, over gRPC or HTTP', () => {
  const text = /One and only one of grpc_service or http_service must be configured/;
  assert.match(issuesOf({}), text);
  assert.match(issuesOf({ ...GRPC, ...HTTP }), text);
  const plan = compiled([proc(HTTP)]).filters?.[0]?.ext_proc;
  assert.equal(plan?.http?.path, '/b');
  assert.equal(plan?.service?.authority, 'a.test');
  assert.equal(plan?.service?.metadata?.[0]?.name, 'x-a');
});

test('a service of HTTP is told of heads alone, without metadata of types of their own', () => {
  assert.match(
    issuesOf({ ...HTTP, processing_mode: { request_body_mode: 'STREAMED' } }),
    /can not be configured to send body or trailer/,
  );
  assert.match(
    issuesOf({ ...HTTP, metadata_options: { forwarding_namespaces: { typed: ['a'] } } }),
    /typed is not supported with an http_service/,
  );
});

test('bodies that go both ways at once have trailers', () => {
  const half = { request_body_mode: 'FULL_DUPLEX_STREAMED' };
  assert.match(
    issuesOf({ ...GRPC, processing_mode: half }),
    /request_trailer_mode has to be set to SEND/,
  );
  const whole = { ...half, request_trailer_mode: 'SEND' };
  assert.equal(issuesOf({ ...GRPC, processing_mode: whole }), '');
});

test('the route is found again as one of two fields says', () => {
  assert.equal(planOf({ disable_clear_route_cache: true })?.route_cache, 2);
  assert.equal(planOf({ route_cache_action: 'CLEAR' })?.route_cache, 1);
  assert.match(
    issuesOf({ ...GRPC, disable_clear_route_cache: true, route_cache_action: 'CLEAR' }),
    /can not be set to none-default at the same time/,
  );
});

test('attributes are values by name; expressions are refused', () => {
  const names = ['request.path', 'request.headers["x-a"]', 'source.port', 'connection.mtls'];
  const [path, header, port, mtls] =
    planOf({ request_attributes: names })?.request_attributes ?? [];
  assert.equal(path?.value?.pieces?.[0]?.argument, ':path');
  assert.equal(header?.value?.pieces?.[0]?.argument, 'x-a');
  assert.equal(port?.kind, ProcessingAttribute_Kind.NUMBER);
  assert.equal(mtls?.kind, ProcessingAttribute_Kind.IS_MUTUAL_TLS);
  assert.match(
    issuesOf({ ...GRPC, response_attributes: ['response.kode'] }),
    /attribute 'response\.kode' is not supported/,
  );
  assert.match(issuesOf({ ...GRPC, request_attributes: ['1 + 1'] }), /'1 \+ 1' is not supported/);
});

test('a route says what is other than the filter says', () => {
  const { configs, issues } = byRoute({
    overrides: {
      processing_mode: { response_header_mode: 'SKIP' },
      grpc_initial_metadata: [{ key: 'x-a', value: 'b' }],
      metadata_options: { forwarding_namespaces: { untyped: ['n'] } },
      failure_mode_allow: true,
    },
  });
  assert.deepEqual(issues, []);
  const route = configs?.[0]?.ext_proc;
  assert.equal(route?.mode?.response_head, 2);
  assert.equal(route?.metadata?.[0]?.name, 'x-a');
  assert.deepEqual(route?.forwarding_namespaces?.names, ['n']);
  assert.equal(route?.receiving_namespaces, undefined);
  assert.equal(route?.failure_mode_allow, true);
  assert.equal(byRoute({ disabled: true }).configs?.[0]?.ext_proc?.disabled, true);
});

test('extensions put other attributes in the place of those that are configured', () => {
  const mapped = 'envoy.extensions.http.ext_proc.processing_request_modifiers';
  const modifier = {
    name: 'm',
    typed_config: any(`${mapped}.mapped_attribute_builder.v3.MappedAttributeBuilder`, {
      mapped_request_attributes: { path: 'request.path' },
    }),
  };
  const attributes = planOf({ processing_request_modifier: modifier })?.attributes;
  assert.deepEqual(
    attributes?.request?.map(({ name }) => name),
    ['path'],
  );
  assert.deepEqual(attributes?.response, []);
  const saved = 'envoy.extensions.http.ext_proc.response_processors.save_processing_response.v3';
  const processor = {
    name: 's',
    typed_config: any(`${saved}.SaveProcessingResponse`, {
      save_request_headers: { save_response: true },
    }),
  };
  assert.equal(issuesOf({ ...GRPC, on_processing_response: processor }), '');
  assert.match(
    issuesOf({ ...GRPC, on_processing_response: modifier }),
    /Didn't find a registered implementation for 'm'/,
  );
});

test('metadata that have types of their own are told where they are named', () => {
  const plan = planOf({
    metadata_options: {
      forwarding_namespaces: { untyped: ['u'], typed: ['a'] },
      cluster_metadata_forwarding_namespaces: { typed: ['b'] },
    },
  });
  assert.deepEqual(plan?.forwarding_namespaces, ['u']);
  assert.deepEqual(plan?.forwarding_typed_namespaces, ['a']);
  assert.deepEqual(plan?.cluster_typed_namespaces, ['b']);
});
