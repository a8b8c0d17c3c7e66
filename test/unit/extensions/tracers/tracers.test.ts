import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Tracing_Kind, TraceTag_Source } from '../../../../src/plan/plan.gen.js';
import type { ExporterPlan } from '../../../../src/plan/tracer-plans.js';
import {
  any,
  compile,
  compileStatic,
  connectionManager,
  issuesOf,
  listenerOf,
} from '../../plan/helpers.js';

const CONFIGS = 'envoy.config.trace.v3';
const ZIPKIN = {
  collector_cluster: 'collector',
  collector_endpoint: '/spans',
  collector_endpoint_version: 'HTTP_JSON',
};

/** A connection manager that traces, and what its spans become. */
function traced(type: string, config: object, tracing: object = {}, route: object = {}) {
  const provider = { name: 'tracer', typed_config: any(`${CONFIGS}.${type}`, config) };
  const routes = [{ match: { prefix: '/' }, direct_response: { status: 200 }, ...route }];
  const compiled = compileStatic({
    clusters: [{ name: 'collector' }],
    listeners: [
      listenerOf(
        connectionManager(
          { virtual_hosts: [{ name: 'all', domains: ['*'], routes }] },
          { tracing: { provider, ...tracing } },
        ),
      ),
    ],
  });
  const exporters: ExporterPlan[] = [];
  compiled.context.tracers.follow((_, plan) => exporters.push(plan));
  return {
    issues: issuesOf(compiled),
    exporters,
    tracing: compiled.update.listeners?.[0]?.filter_chains?.[0]?.http?.tracing,
    route: compiled.update.route_tables?.[0]?.virtual_hosts?.[0]?.routes?.[0],
  };
}

test('spans for Zipkin are made as configured, and posted to the collector', () => {
  const { issues, tracing, exporters } = traced('ZipkinConfig', {
    ...ZIPKIN,
    trace_id_128bit: true,
    shared_span_context: false,
    trace_context_option: 'USE_B3_WITH_W3C_PROPAGATION',
  });
  assert.deepEqual(issues, []);
  assert.equal(tracing?.kind, Tracing_Kind.ZIPKIN);
  assert.equal(tracing?.tracer, 1);
  assert.equal(tracing?.max_path_bytes, 256);
  assert.equal(tracing?.zipkin?.trace_id_128bit, true);
  assert.equal(tracing?.zipkin?.shared_context, false);
  assert.equal(tracing?.zipkin?.with_w3c, true);
  assert.deepEqual(exporters, [
    {
      kind: 'zipkin',
      collector: {
        cluster: 'collector',
        path: '/spans',
        host: 'collector',
        timeoutMs: 0,
        headers: [],
      },
      encoding: 'json',
      isShared: false,
    },
  ]);
});

test('a collector’s service says host, path and headers, of which the last of a name counts', () => {
  const header = (key: string, value: string) => ({ header: { key, value } });
  const { issues, exporters } = traced('ZipkinConfig', {
    collector_endpoint_version: 'HTTP_PROTO',
    collector_service: {
      http_uri: { uri: 'http://zipkin.test:9411/api?x=1', cluster: 'collector', timeout: 1000 },
      request_headers_to_add: [header('X-Key', 'one'), header('X-Key', 'two%%')],
    },
  });
  assert.deepEqual(issues, []);
  const [exporter] = exporters;
  assert.ok(exporter?.kind === 'zipkin');
  assert.equal(exporter.encoding, 'proto');
  assert.equal(exporter.collector.host, 'zipkin.test:9411');
  assert.equal(exporter.collector.path, '/api?x=1');
  assert.deepEqual(exporter.collector.headers, [['x-key', 'two%']]);
});

test('what is wrong with a tracer is said in the real server’s words', () => {
  const wrong = (config: object, type = 'ZipkinConfig'): string =>
    traced(type, config).issues.join('\n');
  assert.match(wrong({ ...ZIPKIN, collector_cluster: 'colector' }), /unknown cluster 'colector'/);
  assert.match(
    wrong({ collector_endpoint_version: 'HTTP_JSON' }),
    /collector_cluster and collector_endpoint must be specified/,
  );
  assert.match(
    wrong({ ...ZIPKIN, collector_endpoint_version: 'GRPC' }),
    /GRPC of .* not supported/,
  );
  assert.match(wrong({}, 'OpenTelemetryConfig'), /exactly one of gRPC, HTTP, or custom exporter/);
  assert.match(wrong({}, 'LightstepConfig'), /the extension 'tracer' .* is not supported yet/);
  const cel = any('envoy.extensions.tracers.opentelemetry.samplers.v3.CELSamplerConfig');
  const http_service = { http_uri: { uri: 'http://a/b', cluster: 'collector', timeout: 1000 } };
  assert.match(
    wrong({ http_service, sampler: { name: 'cel', typed_config: cel } }, 'OpenTelemetryConfig'),
    /the sampler 'cel' .* is not supported yet/,
  );
});

test('a tracer of the bootstrap has to be known, whoever uses it', () => {
  const wrong = (http: object): string => issuesOf(compile({ tracing: { http } })).join('\n');
  assert.match(wrong({ name: 'x' }), /Didn't find a registered implementation for 'x'/);
  assert.match(
    wrong({ name: 'x', typed_config: any(`${CONFIGS}.XRayConfig`) }),
    /XRayConfig.* is not supported yet/,
  );
  assert.equal(wrong({ name: 'x', typed_config: any(`${CONFIGS}.ZipkinConfig`) }), '');
});

test('a collector that is posted to is dialled as its cluster says, but for what only workers can', () => {
  const provider = { name: 'tracer', typed_config: any(`${CONFIGS}.ZipkinConfig`, ZIPKIN) };
  const posted = (cluster: object): string => {
    const compiled = compileStatic({
      clusters: [{ name: 'collector', ...cluster }],
      listeners: [listenerOf(connectionManager({}, { tracing: { provider } }))],
    });
    const { speaks } = compiled.context.grpcClusters.get('collector') ?? {};
    return [speaks, ...issuesOf(compiled)].join('\n');
  };
  assert.equal(posted({}), 'HTTP/1');
  assert.equal(posted({ http2_protocol_options: {} }), 'HTTP/2');
  const proxied = any(
    'envoy.extensions.transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport',
    {
      transport_socket: {
        name: 'raw',
        typed_config: any('envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer'),
      },
    },
  );
  assert.match(
    posted({ transport_socket: { name: 'pp', typed_config: proxied } }),
    /'collector' has the PROXY protocol, .*not supported yet/,
  );
});

test('connection managers that say the same share a tracer', () => {
  const one = {
    name: 'tracer',
    typed_config: any(`${CONFIGS}.ZipkinConfig`, ZIPKIN),
  };
  const manager = connectionManager({}, { tracing: { provider: one } });
  const compiled = compileStatic({
    clusters: [{ name: 'collector' }],
    listeners: [
      listenerOf(manager),
      listenerOf(manager, {
        name: 'second',
        address: { socket_address: { address: '127.0.0.2', port_value: 1 } },
      }),
    ],
  });
  const numbers = compiled.update.listeners?.map(
    ({ filter_chains: chains }) => chains?.[0]?.http?.tracing?.tracer,
  );
  assert.deepEqual(numbers, [1, 1]);
});

test('tags are literals, the environment’s, headers, formats, or metadata that goes along', () => {
  const metadata = (kind: string) => ({
    kind: { [kind]: {} },
    metadata_key: { key: 'space', path: [{ key: 'a' }, { key: 'b' }] },
    default_value: 'none',
  });
  process.env['TRACED_TEST'] = 'set';
  const { issues, tracing, route } = traced(
    'ZipkinConfig',
    ZIPKIN,
    {
      custom_tags: [
        { tag: 'one', literal: { value: 'first' } },
        { tag: 'one', literal: { value: 'last' } },
        { tag: 'two', environment: { name: 'TRACED_TEST' } },
        { tag: 'three', environment: { name: 'NOT_SET', default_value: 'other' } },
        { tag: 'four', request_header: { name: 'X-Name', default_value: 'nobody' } },
        { tag: 'five', metadata: metadata('route') },
        { tag: 'six', value: '%RESPONSE_CODE%', value_type: 'INT' },
      ],
    },
    {
      metadata: { filter_metadata: { space: { a: { b: 'here' } }, unnamed: { c: 1 } } },
      decorator: { operation: 'work', propagate: false },
      tracing: { random_sampling: { numerator: 5 } },
    },
  );
  assert.deepEqual(issues, []);
  const tags = tracing?.tags ?? [];
  assert.deepEqual(
    tags.slice(0, 3).map(({ format }) => format?.pieces?.[0]?.argument),
    ['last', 'set', 'other'],
  );
  assert.equal(tags[3]?.format?.pieces?.[0]?.argument, 'x-name');
  assert.equal(tags[3]?.default_value, 'nobody');
  assert.equal(tags[4]?.source, TraceTag_Source.ROUTE);
  assert.equal(tags[4]?.path, 'a\0b');
  assert.deepEqual(
    route?.tag_metadata?.spaces?.map(({ name }) => name),
    ['space'],
  );
  assert.deepEqual(route?.decorator, { operation: 'work', is_private: true });
  assert.equal(route?.tracing?.sampling?.random?.millionths, 50_000);
  assert.equal(route?.tracing?.sampling?.client?.millionths, 1_000_000);
});

test('ids may be left as they are, and another may decide what is traced', () => {
  const UUIDS = 'envoy.extensions.request_id.uuid.v3.UuidRequestIdConfig';
  const manager = (fields: object) =>
    compileStatic({
      listeners: [
        listenerOf(
          connectionManager({}, { request_id_extension: { typed_config: any(UUIDS, fields) } }),
        ),
      ],
    });
  const plan = manager({ pack_trace_reason: false });
  assert.deepEqual(issuesOf(plan), []);
  assert.equal(plan.update.listeners?.[0]?.filter_chains?.[0]?.http?.keeps_request_ids, true);
});
