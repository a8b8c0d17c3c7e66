// What the stories of meshes share: names of types, an origin, and what a control plane hears.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext } from 'node:test';
import { ControlPlane, type Message } from './control-plane.js';
import { type StartedProxy } from './start-proxy.js';

export const ANY = 'type.googleapis.com/';
export const NETWORK = `${ANY}envoy.extensions.filters.network`;
export const HTTP = `${ANY}envoy.extensions.filters.http`;
export const LISTENER_FILTERS = `${ANY}envoy.extensions.filters.listener`;
export const HCM = `${NETWORK}.http_connection_manager.v3.HttpConnectionManager`;
export const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
export const FILE_LOG = `${ANY}envoy.extensions.access_loggers.file.v3.FileAccessLog`;
export const ADS = { ads: {}, resource_api_version: 'V3' };
export const PATIENT_ADS = { ...ADS, initial_fetch_timeout: '0s' };
/** The same, as it is sent. */
export const SENT_ADS = { ...ADS, initial_fetch_timeout: { seconds: 0 } };
export const ROUTER = {
  name: 'envoy.filters.http.router',
  typed_config: { '@type': `${HTTP}.router.v3.Router` },
};

export const typed = (name: string, type: string, fields: Message = {}): Message => ({
  name,
  typed_config: { '@type': type, ...fields },
});

export const hostsOf = (cluster_name: string, where: Message): Message => ({
  cluster_name,
  endpoints: [{ lb_endpoints: [{ endpoint: { address: where } }] }],
});

export async function startOrigin(t: TestContext): Promise<number> {
  const origin = createServer((request, response) => response.end(`origin ${request.url}`));
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  t.after(() => origin.close());
  t.after(() => origin.closeAllConnections());
  return (origin.address() as AddressInfo).port;
}

export async function answers(
  proxy: StartedProxy,
  listener: string,
  host: string,
): Promise<string> {
  const url = new URL(await proxy.listenerUrl(listener));
  const { request } = await import('node:http');
  const sent = request({ port: url.port, path: '/hello', headers: { host } });
  sent.end();
  const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage];
  let text = '';
  for await (const piece of response) text += String(piece);
  return `${response.statusCode} ${text}`;
}

export const listens = async ({ adminUrl }: StartedProxy, name: string): Promise<boolean> =>
  (await (await fetch(`${adminUrl}/listeners`)).text()).includes(`${name}::`);

/** All was taken, and the node was told once. */
export function assertTaken(plane: ControlPlane): void {
  assert.deepEqual(
    plane.refusals.map(({ error_detail: error }) => error?.message),
    [],
  );
  assert.equal(plane.requests.filter(({ node }) => node).length, 1);
}
