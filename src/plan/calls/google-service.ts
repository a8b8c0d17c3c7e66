// A service that workers reach as the gRPC library would (google_grpc): through a cluster of its own,
// which no page shows.
import type {
  envoy_config_cluster_v3_Cluster as ClusterMessage,
  envoy_config_core_v3_Address as AddressMessage,
  envoy_config_core_v3_GrpcService as GrpcService,
} from '../../../build/messages.gen.js';
import { tls } from '../../base/late-modules.js';
import { parseIp } from '../address/ip.js';
import type { CompileContext } from '../extension.js';
import { compileGoogleGrpc } from '../grpc/google-grpc.js';
import { wholeMs } from '../message/numbers.js';
import type { Place } from '../message/place.js';
import {
  FormatPiece_Operator,
  HeaderAddition_Action,
  type HeaderAddition,
  type Service,
} from '../plan.gen.js';
import type { GoogleGrpcPlan } from '../service-plan.js';

const CONNECT_TIMEOUT_MS = 20_000;
const DEFAULT_PORT = 443;
const MAX_PORT = 65_535;
/** What the library takes for one message, unless it is told otherwise. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** As the real server's library calls itself. */
const USER_AGENT = 'grpc-c++/1.83.0 grpc-c/56.0.0 (linux; chttp2)';
const ENCODINGS = 'identity, deflate, gzip';

/** Undefined after an error. */
export function compileGoogleService(
  message: GrpcService,
  metadata: readonly HeaderAddition[],
  place: Place,
  context: Pick<CompileContext, 'hiddenClusters'>,
  timeoutMs: number,
): Service | undefined {
  const at = place.field('google_grpc');
  if (message.retry_policy) {
    place
      .field('retry_policy')
      .warn('has no effect on google_grpc: the gRPC library retries by itself');
  }
  const google = compileGoogleGrpc(message.google_grpc ?? {}, [], at);
  if (!google) return undefined;
  const target = readTarget(google.target);
  if (!target) {
    at.field('target_uri').error(`'${google.target}' is not supported`, {
      expected: 'HOST:PORT, dns:///HOST:PORT, ipv4:ADDRESS:PORT, ipv6:[ADDRESS]:PORT or unix:PATH',
    });
    return undefined;
  }
  const { channelOptions: options } = google;
  const maxBytes = options['grpc.max_receive_message_length'];
  return {
    cluster: context.hiddenClusters.add(clusterOf(target, google), at),
    timeout_ms: wholeMs(message.timeout, timeoutMs),
    authority:
      textOf(options['grpc.default_authority']) ?? nameOverride(google) ?? target.authority,
    metadata: [
      ...metadata,
      ...google.accessTokens.map((token) => header('authorization', `Bearer ${token}`)),
      header('grpc-accept-encoding', ENCODINGS),
      header('user-agent', `${prefixOf(options['grpc.primary_user_agent'])}${USER_AGENT}`),
    ],
    max_message_bytes: typeof maxBytes === 'number' && maxBytes > 0 ? maxBytes : MAX_MESSAGE_BYTES,
    stat_prefix: google.statPrefix,
  };
}

interface Target {
  readonly address: AddressMessage;
  /** What certificates must be for. */
  readonly host: string;
  readonly authority: string;
}

function readTarget(uri: string): Target | undefined {
  const unix = /^unix:(?:\/\/)?(.+)$/s.exec(uri);
  if (unix) {
    const path = unix[1] ?? '';
    return { address: { pipe: { path } }, host: 'localhost', authority: 'localhost' };
  }
  const scheme = /^(dns|ipv4|ipv6):/.exec(uri);
  if (!scheme && /^[a-z][a-z0-9+.-]*:\/\//.test(uri)) return undefined;
  const rest = uri.slice(scheme?.[0].length ?? 0).replace(/^\/\/[^/]*\//, '');
  const parts = /^(?:\[([^\]]+)\]|([^:,/]+))(?::(\d{1,5}))?$/.exec(rest);
  if (!parts) return undefined;
  const host = parts[1] ?? parts[2] ?? '';
  const port = parts[3] === undefined ? DEFAULT_PORT : Number(parts[3]);
  if (port > MAX_PORT) return undefined;
  return {
    address: { socket_address: { address: host, port_value: port } },
    host,
    authority: rest,
  };
}

/** The library goes to the first address that it finds. */
function clusterOf({ address, host }: Target, google: GoogleGrpcPlan): ClusterMessage {
  const isNamed = address.socket_address !== undefined && parseIp(host) === undefined;
  const { credentials } = google;
  return {
    name: '',
    type: isNamed ? 'LOGICAL_DNS' : 'STATIC',
    dns_lookup_family: 'ALL',
    connect_timeout: CONNECT_TIMEOUT_MS,
    http2_protocol_options: {},
    load_assignment: {
      cluster_name: google.target,
      endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }],
    },
    ...(credentials.kind === 'ssl' && {
      transport_socket: {
        name: 'envoy.transport_sockets.tls',
        typed_config: tlsOf(nameOverride(google) ?? host, credentials),
      },
    }),
  };
}

function tlsOf(
  host: string,
  { roots, key, chain }: Extract<GoogleGrpcPlan['credentials'], { readonly kind: 'ssl' }>,
): { readonly $type: string } & Record<string, unknown> {
  const isIp = parseIp(host) !== undefined;
  return {
    $type: 'envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
    ...(!isIp && { sni: host }),
    common_tls_context: {
      alpn_protocols: ['h2'],
      validation_context: {
        trusted_ca: { inline_bytes: roots ?? Buffer.from(tls().rootCertificates.join('\n')) },
        match_typed_subject_alt_names: [
          { san_type: isIp ? 'IP_ADDRESS' : 'DNS', matcher: { exact: host } },
        ],
      },
      ...(key && {
        tls_certificates: [
          { certificate_chain: { inline_bytes: chain }, private_key: { inline_bytes: key } },
        ],
      }),
    },
  };
}

const textOf = (option: string | number | undefined): string | undefined =>
  typeof option === 'string' && option !== '' ? option : undefined;

const nameOverride = ({ channelOptions }: GoogleGrpcPlan): string | undefined =>
  textOf(channelOptions['grpc.ssl_target_name_override']);

const prefixOf = (agent: string | number | undefined): string => {
  const text = textOf(agent);
  return text === undefined ? '' : `${text} `;
};

const header = (name: string, value: string): HeaderAddition => ({
  name,
  value: { pieces: [{ operator: FormatPiece_Operator.LITERAL, argument: value }] },
  action: HeaderAddition_Action.OVERWRITE_OR_ADD,
});
