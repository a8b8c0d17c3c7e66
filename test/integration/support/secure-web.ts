// A web listener over TLS, what its certificates are, and who asks it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type RequestOptions } from 'node:https';
import { AUTHORITY, SERVER_CERTIFICATE, SERVER_KEY } from './certificates.js';

export const TYPES = 'type.googleapis.com/envoy.extensions';

export type Fields = Readonly<Record<string, unknown>>;

export const text = (inline_string: string): object => ({ inline_string });
export const SERVER = {
  certificate_chain: text(SERVER_CERTIFICATE),
  private_key: text(SERVER_KEY),
};
export const TRUST = { trusted_ca: text(AUTHORITY) };

export const tls = (side: 'Downstream' | 'Upstream', fields: Fields): object => ({
  name: 'envoy.transport_sockets.tls',
  typed_config: { '@type': `${TYPES}.transport_sockets.tls.v3.${side}TlsContext`, ...fields },
});
export const downstream = (common: Fields = {}, fields: Fields = {}): object =>
  tls('Downstream', {
    ...fields,
    common_tls_context: { tls_certificates: [SERVER], ...common },
  });
export const upstream = (common: Fields = {}, fields: Fields = {}): object =>
  tls('Upstream', { ...fields, common_tls_context: common });

export interface Bootstrap {
  readonly static_resources: {
    readonly listeners: readonly Fields[];
    readonly clusters: readonly Fields[];
  };
}

/** The web listener over TLS, with other fields of its chain and of its connection manager. */
export function secureWeb(bootstrap: object, socket: object, manager: Fields = {}): object {
  const copy = JSON.parse(JSON.stringify(bootstrap)) as {
    static_resources: {
      listeners: {
        filter_chains: {
          filters: { typed_config: Record<string, unknown> }[];
          transport_socket?: object;
        }[];
      }[];
    };
  };
  const chain = copy.static_resources.listeners[0]?.filter_chains[0];
  assert.ok(chain);
  chain.transport_socket = socket;
  Object.assign(chain.filters[0]?.typed_config ?? {}, manager);
  return copy;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

export async function get(port: number, options: RequestOptions = {}): Promise<Answer> {
  const asked = request({
    port,
    host: '127.0.0.1',
    path: '/',
    ca: AUTHORITY,
    servername: 'server.test',
    agent: false,
    ...options,
  });
  asked.end();
  const [answer] = (await once(asked, 'response')) as [import('node:http').IncomingMessage];
  let body = '';
  for await (const chunk of answer) body += String(chunk);
  return { status: answer.statusCode ?? 0, body, headers: answer.headers };
}
