// What the proxy is told: two listeners for HTTP and two that relay, with and without TLS, as a bootstrap
// has them; routes, clusters, hosts and further listeners from files that change all the while.
import { join } from 'node:path';
import {
  ADMIN_ONLY,
  address,
  cluster,
  says,
  webRoutes,
} from '../integration/support/bootstraps.js';
import { AUTHORITY, SERVER_CERTIFICATE, SERVER_KEY } from '../integration/support/certificates.js';
import { fileSource } from '../integration/support/resources.js';

export type Message = Readonly<Record<string, unknown>>;

/** Ports of origins. */
export interface Origins {
  readonly good: readonly number[];
  readonly secure: number;
  readonly bad: number;
  /** Of HTTP/2: one that is always right, and one that is not. */
  readonly http2: number;
  readonly badHttp2: number;
  readonly echo: number;
}

const TYPES = 'type.googleapis.com/envoy.extensions';
const typed = (type: string, fields: Message = {}): Message => ({
  '@type': `${TYPES}.${type}`,
  ...fields,
});
const named = (name: string, type: string, fields: Message = {}): Message => ({
  name,
  typed_config: typed(type, fields),
});
const text = (inline_string: string): Message => ({ inline_string });

const SECURE_SOCKET = named(
  'envoy.transport_sockets.tls',
  'transport_sockets.tls.v3.DownstreamTlsContext',
  {
    common_tls_context: {
      alpn_protocols: ['h2', 'http/1.1'],
      tls_certificates: [
        { certificate_chain: text(SERVER_CERTIFICATE), private_key: text(SERVER_KEY) },
      ],
    },
  },
);

function manager(name: string, folder: string): Message {
  return named(
    'envoy.filters.network.http_connection_manager',
    'filters.network.http_connection_manager.v3.HttpConnectionManager',
    {
      stat_prefix: name,
      rds: { route_config_name: 'routes', config_source: fileSource(join(folder, 'rds.json')) },
      request_headers_timeout: '2s',
      stream_idle_timeout: '5s',
      access_log: [
        named('envoy.access_loggers.file', 'access_loggers.file.v3.FileAccessLog', {
          path: join(folder, 'access.log'),
        }),
      ],
      http_filters: [
        named('envoy.filters.http.cors', 'filters.http.cors.v3.Cors'),
        named('envoy.filters.http.fault', 'filters.http.fault.v3.HTTPFault', {
          delay: { header_delay: {}, percentage: { numerator: 100 } },
          abort: { header_abort: {}, percentage: { numerator: 100 } },
          response_rate_limit: { header_limit: {}, percentage: { numerator: 100 } },
        }),
        named('envoy.filters.http.router', 'filters.http.router.v3.Router'),
      ],
    },
  );
}

const relay = (name: string): Message =>
  named('envoy.filters.network.tcp_proxy', 'filters.network.tcp_proxy.v3.TcpProxy', {
    stat_prefix: name,
    cluster: 'echo',
  });

function listener(name: string, filter: Message, isSecure: boolean, more: Message = {}): Message {
  const chain = { filters: [filter], ...(isSecure && { transport_socket: SECURE_SOCKET }) };
  return { name, address: address(0), filter_chains: [chain], ...more };
}

const inspecting = (name: string, type: string, fields: Message = {}): Message => ({
  listener_filters: [named(`envoy.filters.listener.${name}`, `filters.listener.${type}`, fields)],
});

const HTTP_OPTIONS = 'upstreams.http.v3.HttpProtocolOptions';

const http2Cluster = (name: string, port: number): Message => ({
  ...cluster(name, port),
  typed_extension_protocol_options: {
    [`envoy.extensions.${HTTP_OPTIONS}`]: typed(HTTP_OPTIONS, {
      explicit_http_config: { http2_protocol_options: {} },
    }),
  },
});

export function bootstrapOf(folder: string, origins: Origins): Message {
  const path = (name: string): Message => fileSource(join(folder, name));
  return {
    ...ADMIN_ONLY,
    node: { id: 'chaos', cluster: 'chaos' },
    layered_runtime: { layers: [{ name: 'admin', admin_layer: {} }] },
    dynamic_resources: { lds_config: path('lds.json'), cds_config: path('cds.json') },
    static_resources: {
      listeners: [
        listener('plain', manager('plain', folder), false, {
          per_connection_buffer_limit_bytes: 16384,
          ...inspecting('http_inspector', 'http_inspector.v3.HttpInspector'),
        }),
        listener(
          'secure',
          manager('secure', folder),
          true,
          inspecting('tls_inspector', 'tls_inspector.v3.TlsInspector'),
        ),
        listener(
          'relay',
          relay('relay'),
          false,
          inspecting('proxy_protocol', 'proxy_protocol.v3.ProxyProtocol', {
            allow_requests_without_proxy_protocol: true,
          }),
        ),
        listener('secure-relay', relay('secure-relay'), true),
      ],
      clusters: [
        cluster('echo', origins.echo),
        http2Cluster('http2', origins.http2),
        http2Cluster('bad2', origins.badHttp2),
      ],
    },
  };
}

/** Clusters by their version: what requests are sent to stays, with other settings. */
export function clustersOf(folder: string, origins: Origins, version: number): readonly Message[] {
  const others = [version % 3, (version + 1) % 4].map((number) => `other-${number}`);
  return [
    {
      name: 'good',
      type: 'EDS',
      lb_policy: version % 2 === 0 ? 'ROUND_ROBIN' : 'LEAST_REQUEST',
      eds_cluster_config: { eds_config: fileSource(join(folder, 'eds.json')) },
    },
    {
      ...cluster('secure', origins.secure),
      transport_socket: named(
        'envoy.transport_sockets.tls',
        'transport_sockets.tls.v3.UpstreamTlsContext',
        {
          sni: 'server.test',
          common_tls_context: { validation_context: { trusted_ca: text(AUTHORITY) } },
        },
      ),
    },
    {
      ...cluster('bad', origins.bad),
      connect_timeout: `${1 + (version % 2)}s`,
      circuit_breakers: { thresholds: [{ max_connections: 8, max_pending_requests: 8 }] },
    },
    // Who waits for one of few connections here would hold up whoever is mirrored.
    cluster('shadow', origins.bad),
    ...[...new Set(others)].map((name) => cluster(name, origins.bad)),
  ];
}

/** Every set of hosts of `good` answers all requests. */
export function hostsOf({ good }: Origins, version: number): readonly Message[] {
  const chosen = version % 3 === 2 ? good : [good[version % 3] ?? 0];
  return chosen.map((port) => ({
    endpoint: { address: address(port) },
    load_balancing_weight: 1 + (version % 5),
  }));
}

/** Routes by their version: /good, /secure and /http2 answer always, the others as it comes. */
export function routesOf(version: number): Message {
  const to = (prefix: string, name: string, more: Message = {}, other: Message = {}): Message => ({
    match: { prefix },
    route: { cluster: name, timeout: '0s', ...more },
    ...other,
  });
  const retries = {
    retry_on: '5xx,reset,retriable-4xx',
    num_retries: 3,
    per_try_timeout: '0.1s',
    retry_back_off: { base_interval: '0.005s', max_interval: '0.02s' },
  };
  // Copies have it, too: they end, whatever becomes of them.
  const mirrored = {
    timeout: '10s',
    request_mirror_policies: [{ cluster: 'shadow' }, { cluster: 'secure' }],
  };
  return webRoutes(
    [
      to('/good/mirrored', 'good', mirrored),
      to('/good', 'good', {}, { response_headers_to_add: addVersion(version) }),
      to('/secure', 'secure'),
      to('/http2', 'http2', mirrored),
      to('/bad2/retried', 'bad2', { timeout: '1s', retry_policy: retries }),
      to('/bad2', 'bad2', { timeout: '0.5s' }),
      to('/bad/hedged', 'bad', {
        timeout: '1s',
        retry_policy: retries,
        hedge_policy: { hedge_on_per_try_timeout: true },
      }),
      to('/bad/retried', 'bad', { ...mirrored, timeout: '1s', retry_policy: retries }),
      to('/bad', 'bad', { timeout: '0.5s' }),
      to('/other', `other-${version % 4}`, { timeout: '0.5s' }),
      says('/direct', `version ${version}`),
    ],
    'routes',
  );
}

const addVersion = (version: number): readonly Message[] => [
  { header: { key: 'x-version', value: `${version} %RESPONSE_CODE%` } },
];

const EXTRA_LISTENERS = 3;

/** `steady` answers in all versions, and changes in place and as a whole; others come and go. */
export function listenersOf(
  folder: string,
  ports: readonly number[],
  version: number,
): readonly Message[] {
  const bits = Math.floor(version / 3);
  const extra = Array.from({ length: EXTRA_LISTENERS }, (_, index) => index + 1);
  return [
    {
      ...listener('steady', manager(`steady-${version % 2}`, folder), false),
      address: address(ports[0] ?? 0),
      ...(version % 5 === 0 && { traffic_direction: 'INBOUND' }),
    },
    ...extra
      .filter((index) => (bits >> index) % 2 === 0)
      .map((index) => ({
        ...listener(`extra-${index}`, relay(`extra-${(version + index) % 2}`), index === 1),
        address: address(ports[index] ?? 0),
      })),
  ];
}
