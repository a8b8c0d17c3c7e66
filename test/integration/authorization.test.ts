// Services that are asked about requests: whether they may go on, and how many there may be.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { HTTP2, cluster, toCluster, webBootstrap } from './support/bootstraps.js';
import { startProxy } from './support/start-proxy.js';

const TYPE = 'type.googleapis.com/envoy.extensions';
const CHECK = '/envoy.service.auth.v3.Authorization/Check';
const LIMIT = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';

const asIs = (bytes: Buffer): Buffer => bytes;
/** A field of protobuf that holds bytes, a text or a message, below 128 of them. */
const field = (number: number, value: Buffer | string): Buffer => {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
};
const PERMISSION_DENIED = Buffer.from([8, 7]);
const OVER_LIMIT = Buffer.from([8, 2]);

/** A gRPC service of one method; its port. */
async function serve(
  t: TestContext,
  path: string,
  answer: (request: Buffer) => Buffer,
): Promise<number> {
  const server = new Server();
  const handle = (
    call: { readonly request: Buffer },
    send: (error: null, message: Buffer) => void,
  ): void => {
    send(null, answer(call.request));
  };
  server.register(path, handle, asIs, asIs, 'unary');
  t.after(() => server.forceShutdown());
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
      if (error) reject(error);
      else resolve(port);
    });
  });
}

/** An origin that says which user it is told of. */
async function startOrigin(t: TestContext): Promise<number> {
  const origin = createServer((request, response) => {
    response.end(`for ${String(request.headers['x-told'])}`);
  });
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    origin.close();
    origin.closeAllConnections();
  });
  return (origin.address() as AddressInfo).port;
}

/** A proxy before the origin, with that filter, whose service is a cluster "service". */
async function startWith(t: TestContext, service: number, filter: object, route: object) {
  const web = webBootstrap([route as never]) as unknown as {
    static_resources: {
      listeners: { filter_chains: { filters: { typed_config: { http_filters: object[] } }[] }[] }[];
      clusters: object[];
    };
  };
  web.static_resources.listeners[0]?.filter_chains[0]?.filters[0]?.typed_config.http_filters.unshift(
    filter,
  );
  web.static_resources.clusters = [
    cluster('origin', await startOrigin(t)),
    {
      ...cluster('service', service),
      ...HTTP2,
    },
  ];
  return startProxy(t, web);
}

const ASKED = { envoy_grpc: { cluster_name: 'service' }, timeout: '10s' };

test('an authorization service lets requests through, and tells the origin of them', async (t) => {
  const port = await serve(t, CHECK, (request) => {
    if (!request.includes('ann')) {
      return Buffer.concat([field(1, PERMISSION_DENIED), field(2, field(3, 'who are you'))]);
    }
    const header = field(1, Buffer.concat([field(1, 'x-told'), field(2, 'ann')]));
    return Buffer.concat([field(1, ''), field(3, field(2, header))]);
  });
  const filter = {
    name: 'authorization',
    typed_config: {
      '@type': `${TYPE}.filters.http.ext_authz.v3.ExtAuthz`,
      transport_api_version: 'V3',
      grpc_service: ASKED,
      stat_prefix: 'az',
    },
  };
  const proxy = await startWith(t, port, filter, toCluster('/', 'origin'));
  const url = await proxy.listenerUrl('web');
  const told = await fetch(url, { headers: { 'x-user': 'ann' } });
  assert.equal(await told.text(), 'for ann');
  const refused = await fetch(url);
  assert.equal(refused.status, 403);
  assert.equal(await refused.text(), 'who are you');
  const stats = await (await fetch(`${proxy.adminUrl}/stats?filter=ext_authz`)).text();
  assert.match(stats, /http\.web\.ext_authz\.az\.ok: 1/);
  assert.match(stats, /cluster\.origin\.ext_authz\.az\.denied: 1/);
});

test('a rate limit service says when it is enough', async (t) => {
  let asked = 0;
  const port = await serve(t, LIMIT, (request) => {
    assert.ok(request.includes('x-user'));
    return ++asked > 1 ? OVER_LIMIT : Buffer.from([8, 1]);
  });
  const filter = {
    name: 'limit',
    typed_config: {
      '@type': `${TYPE}.filters.http.ratelimit.v3.RateLimit`,
      domain: 'web',
      timeout: '10s',
      rate_limit_service: { transport_api_version: 'V3', grpc_service: ASKED },
    },
  };
  const actions = [{ request_headers: { header_name: 'x-user', descriptor_key: 'x-user' } }];
  const route = {
    match: { prefix: '/' },
    route: { cluster: 'origin', rate_limits: [{ actions }] },
  };
  const proxy = await startWith(t, port, filter, route);
  const url = await proxy.listenerUrl('web');
  const status = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(url, { headers })).status;
  assert.equal(await status({ 'x-user': 'ann' }), 200);
  assert.equal(await status({ 'x-user': 'ann' }), 429);
  // Nobody is asked about requests without a descriptor.
  assert.equal(await status({}), 200);
  assert.equal(asked, 2);
});
