// Spans on their way to a collector, which is here what the proxy posts to.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import protobuf from 'protobufjs';
import { webBootstrap, says } from './support/bootstraps.js';
import { startProxy } from './support/start-proxy.js';

interface Report {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Answers all posts with `status`; `next` is the next that comes. */
async function collector(t: TestContext, status: number) {
  const waiting: Report[] = [];
  let tell: (() => void) | undefined;
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { url: path = '', headers } = request;
      waiting.push({ path, headers, body: Buffer.concat(pieces) });
      response.writeHead(status).end();
      tell?.();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const next = async (): Promise<Report> => {
    while (waiting.length === 0) await new Promise<void>((resolve) => (tell = resolve));
    return waiting.shift()!;
  };
  return { port: (server.address() as AddressInfo).port, next };
}

const TRACE = 'type.googleapis.com/envoy.config.trace.v3';

function traced(port: number, provider: object, tracing: object = {}): object {
  const bootstrap = webBootstrap([says('/', 'yes')], { collector: port }) as any;
  const [listener] = bootstrap.static_resources.listeners;
  listener.filter_chains[0].filters[0].typed_config.tracing = { provider, ...tracing };
  return {
    ...bootstrap,
    node: { id: 'the-node', cluster: 'the-cluster' },
    layered_runtime: {
      layers: [
        {
          name: 'at once',
          static_layer: {
            'tracing.zipkin.min_flush_spans': 1,
            'tracing.opentelemetry.min_flush_spans': 1,
          },
        },
      ],
    },
  };
}

test('a request is told of to Zipkin, with tags, as part of the trace that it names', async (t) => {
  const { port, next } = await collector(t, 202);
  const provider = {
    name: 'envoy.tracers.zipkin',
    typed_config: {
      '@type': `${TRACE}.ZipkinConfig`,
      collector_cluster: 'collector',
      collector_endpoint: '/api/v2/spans',
      collector_endpoint_version: 'HTTP_JSON',
    },
  };
  const custom_tags = [{ tag: 'who', request_header: { name: 'x-who' } }];
  const proxy = await startProxy(t, traced(port, provider, { custom_tags }));
  const trace = { 'x-b3-traceid': '00000000000000ab', 'x-b3-spanid': '00000000000000cd' };
  const url = await proxy.listenerUrl('web');
  await fetch(new URL('/path', url), { headers: { ...trace, 'x-who': 'ann' } });

  const report = await next();
  assert.equal(report.path, '/api/v2/spans');
  const [span] = JSON.parse(report.body.toString()) as [any];
  assert.equal(span.traceId, '00000000000000ab');
  assert.equal(span.id, '00000000000000cd');
  assert.equal(span.tags['who'], 'ann');
  assert.equal(span.tags['http.status_code'], '200');
  assert.equal(span.tags['http.url'], String(new URL('/path', url)));
  assert.equal(span.localEndpoint.serviceName, 'the-cluster');
});

test('a request is told of to OpenTelemetry, in its messages', async (t) => {
  const { port, next } = await collector(t, 200);
  const provider = {
    name: 'envoy.tracers.opentelemetry',
    typed_config: {
      '@type': `${TRACE}.OpenTelemetryConfig`,
      service_name: 'shop',
      http_service: {
        http_uri: { uri: 'http://otel.test/v1/traces', cluster: 'collector', timeout: '5s' },
      },
    },
  };
  const proxy = await startProxy(t, traced(port, provider));
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await fetch(await proxy.listenerUrl('web'), { headers: { traceparent } });

  const report = await next();
  assert.equal(report.path, '/v1/traces');
  assert.equal(report.headers.host, 'otel.test');
  const request = protobuf
    .parse(
      `
    syntax = "proto3";
    message Request { repeated ResourceSpans resource_spans = 1; }
    message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
    message Resource { repeated KeyValue attributes = 1; }
    message ScopeSpans { repeated Span spans = 2; }
    message KeyValue { string key = 1; Value value = 2; }
    message Value { string string_value = 1; }
    message Span { bytes trace_id = 1; bytes parent_span_id = 4; string name = 5; }
  `,
      { keepCase: true },
    )
    .root.lookupType('Request');
  const {
    resource_spans: [resource],
  } = request.toObject(request.decode(report.body)) as any;
  const [span] = resource.scope_spans[0].spans;
  assert.equal(Buffer.from(span.trace_id).toString('hex'), '0af7651916cd43dd8448eb211c80319c');
  assert.equal(Buffer.from(span.parent_span_id).toString('hex'), 'b7ad6b7169203331');
  assert.equal(span.name, 'ingress');
  const names = resource.resource.attributes.map(({ key, value }: any) => [
    key,
    value.string_value,
  ]);
  assert.ok(names.some(([key, value]: string[]) => key === 'service.name' && value === 'shop'));
});
