// Filters of gRPC before the router: browsers, bridges, JSON.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { descriptorSet, field, message, method } from '../unit/extensions/http/descriptors.js';
import { toCluster, webBootstrap } from './support/bootstraps.js';
import { startProxy } from './support/start-proxy.js';
import { TYPE, withFilters } from './support/filters.js';

const BASKET = {
  name: 'basket.proto',
  package: 'shop',
  syntax: 'proto3',
  message_type: [message('Item', [field('name', 1, 9)])],
  service: [{ name: 'Basket', method: [method('Add', '.shop.Item', '.shop.Item')] }],
};
const GRPC_FILTERS = {
  grpc_web: { '@type': `${TYPE}.grpc_web.v3.GrpcWeb` },
  grpc_stats: { '@type': `${TYPE}.grpc_stats.v3.FilterConfig`, stats_for_all_methods: true },
  grpc_http1_bridge: { '@type': `${TYPE}.grpc_http1_bridge.v3.Config` },
  grpc_http1_reverse_bridge: {
    '@type': `${TYPE}.grpc_http1_reverse_bridge.v3.FilterConfig`,
    content_type: 'application/x-protobuf',
    withhold_grpc_frames: true,
  },
  grpc_json_transcoder: {
    '@type': `${TYPE}.grpc_json_transcoder.v3.GrpcJsonTranscoder`,
    proto_descriptor_bin: Buffer.from(descriptorSet([BASKET])).toString('base64'),
    services: ['shop.Basket'],
    auto_mapping: true,
  },
  connect_grpc_bridge: { '@type': `${TYPE}.connect_grpc_bridge.v3.FilterConfig` },
};
const MESSAGE = Buffer.from('\0\0\0\0\x05hello', 'latin1');

/** An origin that knows gRPC as HTTP/1 can: its status is in the trailers. */
async function startGrpcOrigin(t: TestContext): Promise<number> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const type = request.headers['content-type'] ?? '';
      response.writeHead(200, { 'content-type': type, trailer: 'grpc-status' });
      response.write(Buffer.concat(parts));
      response.addTrailers({ 'grpc-status': '0' });
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

async function callThrough(
  t: TestContext,
  names: readonly (keyof typeof GRPC_FILTERS)[],
  type: string,
  sent: typeof MESSAGE | string = MESSAGE,
): Promise<{ readonly response: Response; readonly body: string; readonly stats: string }> {
  const origin = await startGrpcOrigin(t);
  const bootstrap = withFilters(
    webBootstrap([toCluster('/', 'origin')], { origin }),
    names.map((name) => ({ name, typed_config: GRPC_FILTERS[name] })),
  ) as { static_resources: { clusters: object[] } };
  const PROTOCOLS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
  bootstrap.static_resources.clusters = bootstrap.static_resources.clusters.map((cluster) => ({
    ...cluster,
    typed_extension_protocol_options: {
      [PROTOCOLS]: {
        '@type': `type.googleapis.com/${PROTOCOLS}`,
        explicit_http_config: { http_protocol_options: { enable_trailers: true } },
      },
    },
  }));
  const proxy = await startProxy(t, bootstrap);
  const response = await fetch(`${await proxy.listenerUrl('web')}/shop.Basket/Add`, {
    method: 'POST',
    headers: { 'content-type': type },
    body: sent,
  });
  const body = Buffer.from(await response.arrayBuffer()).toString('latin1');
  const stats = await (await fetch(`${proxy.adminUrl}/stats?filter=grpc`)).text();
  return { response, body, stats };
}

test('a browser calls gRPC, which is counted by method', async (t) => {
  const { response, body, stats } = await callThrough(
    t,
    ['grpc_web', 'grpc_stats'],
    'application/grpc-web+proto',
  );
  assert.equal(response.headers.get('content-type'), 'application/grpc-web+proto');
  assert.equal(body, '\0\0\0\0\x05hello\x80\0\0\0\x0fgrpc-status:0\r\n');
  assert.match(stats, /^cluster\.origin\.grpc-web\.shop\.Basket\.Add\.success: 1$/m);
  assert.match(stats, /^cluster\.origin\.grpc\.shop\.Basket\.Add\.request_message_count: 1$/m);
});

test('grpc_http1_bridge tells the status in the head of the answer', async (t) => {
  const { response, body } = await callThrough(t, ['grpc_http1_bridge'], 'application/grpc');
  assert.equal(response.headers.get('grpc-status'), '0');
  assert.equal(response.headers.get('content-length'), '10');
  assert.equal(body, MESSAGE.toString('latin1'));
});

test('grpc_http1_reverse_bridge puts a plain answer into a frame', async (t) => {
  const { response, body } = await callThrough(
    t,
    ['grpc_http1_reverse_bridge'],
    'application/grpc',
  );
  assert.equal(response.headers.get('content-type'), 'application/grpc');
  assert.equal(body, MESSAGE.toString('latin1'));
});

test('grpc_json_transcoder makes a call of JSON, and JSON of its answer', async (t) => {
  const { response, body } = await callThrough(
    t,
    ['grpc_json_transcoder'],
    'application/json',
    '{"name":"tea"}',
  );
  assert.equal(response.headers.get('content-type'), 'application/json');
  assert.equal(body, '{"name":"tea"}');
});

test('connect_grpc_bridge makes a call of a message alone, and takes its frame off again', async (t) => {
  const { response, body } = await callThrough(
    t,
    ['connect_grpc_bridge'],
    'application/proto',
    'hello',
  );
  assert.equal(response.headers.get('content-type'), 'application/proto');
  assert.equal(body, 'hello');
});
