// The operators of substitution formats: what each takes, and what it becomes in a plan.
import { hostname } from 'node:os';
import { FormatPiece_Operator as Operator, type FormatPiece } from '../plan.gen.js';
import { PATH_SEPARATOR } from './metadata-values.js';

/** Where a format is used; some operators only have a value in one kind of log. */
export type FormatUse = 'header' | 'http_log' | 'tcp_log' | 'listener_log';

/** One "%NAME(argument):length%". */
export interface Command {
  readonly name: string;
  /** Empty: none. */
  readonly argument: string;
  readonly length: number | undefined;
  readonly use: FormatUse;
}

/** A piece of the plan; nothing at all; or why not. */
export type Compiled = FormatPiece | { readonly error: string };

export interface OperatorRule {
  readonly argument: 'none' | 'optional' | 'required';
  readonly lengthAllowed: boolean;
  readonly compile: (command: Command) => Compiled;
}

/** A header's name with an optional second choice: "x-a?:path". */
const HEADER_TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~:-]*$/;

function plain(operator: Operator): OperatorRule {
  return { argument: 'none', lengthAllowed: false, compile: () => ({ operator }) };
}

function header(operator: Operator): OperatorRule {
  const compile = ({ argument, length }: Command): Compiled => {
    const [name = '', alternative = '', ...rest] = argument.split('?');
    if (rest.length > 0)
      return { error: `More than 1 alternative header specified in token: ${argument}` };
    if (![name, alternative].every((text) => HEADER_TOKEN.test(text))) {
      return { error: 'Invalid header configuration. Format string contains invalid characters.' };
    }
    return {
      operator,
      argument: headerName(name, operator),
      alternative: headerName(alternative, operator),
      max_length: length,
    };
  };
  return { argument: 'required', lengthAllowed: true, compile };
}

/** Requests call it ":authority", whatever the configuration does. */
function headerName(name: string, operator: Operator): string {
  const lower = name.toLowerCase();
  return operator === Operator.REQ && lower === 'host' ? ':authority' : lower;
}

/** An address without its port; a prefix length would shorten it. */
function addressOnly(operator: Operator): OperatorRule {
  const compile = ({ name, argument }: Command): Compiled =>
    argument === '' ? { operator } : { error: `${name}(${argument}) is not supported yet` };
  return { argument: 'optional', lengthAllowed: false, compile };
}

/** What never has a value where connections are in the clear. */
function ofTls(operator: Operator, what: string): OperatorRule {
  return {
    argument: 'none',
    lengthAllowed: false,
    compile: () => ({ operator, argument: what }),
  };
}

function time(operator: Operator): OperatorRule {
  return {
    argument: 'optional',
    lengthAllowed: false,
    compile: ({ argument }) => ({ operator, argument }),
  };
}

const ACCESS_LOG_TYPES: Record<FormatUse, string> = {
  header: 'NotSet',
  http_log: 'DownstreamEnd',
  tcp_log: 'TcpConnectionEnd',
  listener_log: 'NotSet',
};

function compilePath({ argument, length }: Command): Compiled {
  const [query = '', original = 'ORIG_OR_PATH'] = argument.split(':');
  if (!['', 'WQ', 'NQ'].includes(query)) {
    return { error: `Invalid PATH option: '${query}', only 'WQ'/'NQ' are allowed` };
  }
  if (!['ORIG', 'PATH', 'ORIG_OR_PATH'].includes(original)) {
    return {
      error: `Invalid PATH option: '${original}', only 'ORIG'/'PATH'/'ORIG_OR_PATH' are allowed`,
    };
  }
  return { operator: Operator.PATH, argument: `${query || 'WQ'}:${original}`, max_length: length };
}

function compileGrpcStatus({ argument }: Command): Compiled {
  if (!['', 'CAMEL_STRING', 'SNAKE_STRING', 'NUMBER'].includes(argument)) {
    return {
      error: `GrpcStatusFormatter only supports CAMEL_STRING, SNAKE_STRING or NUMBER. Got: ${argument}`,
    };
  }
  return { operator: Operator.GRPC_STATUS, argument: argument || 'CAMEL_STRING' };
}

function compileServerName({ argument }: Command): Compiled {
  const [option = ''] = argument.split(':');
  if (!['', 'SNI_ONLY', 'SNI_FIRST', 'HOST_FIRST'].includes(option)) {
    return {
      error: `Invalid REQUESTED_SERVER_NAME option: '${option}', only 'SNI_ONLY'/'SNI_FIRST'/'HOST_FIRST' are allowed`,
    };
  }
  if (option === '' || option === 'SNI_ONLY') return { operator: Operator.REQUESTED_SERVER_NAME };
  return { error: `REQUESTED_SERVER_NAME(${argument}) is not supported yet` };
}

function compileCommonDuration({ argument }: Command): Compiled {
  const [from = '', to = '', precision = 'ms'] = argument.split(':');
  if (from === '' || to === '')
    return { error: `Invalid common duration configuration: ${argument}.` };
  if (!['ms', 'us', 'ns'].includes(precision)) {
    return { error: `Invalid common duration precision: ${precision}.` };
  }
  // The whole request in milliseconds is what DURATION says, too.
  if (from === 'DS_RX_BEG' && to === 'DS_TX_END' && precision === 'ms') {
    return { operator: Operator.COMMON_DURATION, argument: `${from}:${to}:${precision}` };
  }
  return { error: `COMMON_DURATION(${argument}) is not supported yet` };
}

function compileEnvironment({ argument, length }: Command): Compiled {
  const value = process.env[argument];
  return { argument: (value ?? '-').slice(0, length) };
}

function compileMetadata({ argument, length }: Command): Compiled {
  const [space = '', ...keys] = argument.split(':');
  if (keys.includes('')) return { operator: Operator.ABSENT };
  return {
    operator: Operator.DYNAMIC_METADATA,
    argument: space,
    alternative: keys.join(PATH_SEPARATOR),
    max_length: length,
  };
}

const PROXY_PROTOCOL_TLV = 'envoy.network.proxy_protocol.tlv';
/** Known, but without a text. */
const PROXY_PROTOCOL_OPTIONS = 'envoy.network.proxy_protocol_options';

/** What the TCP proxy keeps of a tunnel: only typed texts have it. */
const TUNNEL_STATE = new Map([
  ['envoy.tcp_proxy.propagate_response_headers', Operator.TUNNEL_RESPONSE_HEADERS],
  ['envoy.tcp_proxy.propagate_response_trailers', Operator.TUNNEL_RESPONSE_TRAILERS],
]);

function compileFilterState({ argument, length }: Command): Compiled {
  const [key = '', type = 'TYPED'] = argument.split(':');
  if (key === '') return { error: 'Invalid filter state configuration, key cannot be empty.' };
  if (!['PLAIN', 'TYPED', 'FIELD'].includes(type)) {
    return { error: 'Invalid filter state serialize type, only support PLAIN/TYPED/FIELD.' };
  }
  if (key === PROXY_PROTOCOL_TLV) {
    if (type !== 'FIELD') return { operator: Operator.PROXY_PROTOCOL_TLV, max_length: length };
    const field = argument.slice(argument.indexOf(':FIELD') + ':FIELD:'.length);
    if (field !== '') {
      return { operator: Operator.PROXY_PROTOCOL_TLV, argument: field, max_length: length };
    }
    return {
      error: 'Invalid filter state serialize type, FIELD should be used with the field name.',
    };
  }
  if (key === PROXY_PROTOCOL_OPTIONS) return { operator: Operator.ABSENT };
  const ofTunnel = TUNNEL_STATE.get(key);
  if (ofTunnel !== undefined) {
    return type === 'TYPED'
      ? { operator: ofTunnel, max_length: length }
      : { operator: Operator.ABSENT };
  }
  // The proxy's own state goes by names that begin so.
  if (key.startsWith('envoy.')) return { error: `FILTER_STATE(${argument}) is not supported yet` };
  return { operator: Operator.ABSENT };
}

function compileResponseCodeDetails({ argument }: Command): Compiled {
  if (argument !== 'ALLOW_WHITESPACES') return { operator: Operator.RESPONSE_CODE_DETAILS };
  return { error: 'RESPONSE_CODE_DETAILS(ALLOW_WHITESPACES) is not supported yet' };
}

const PLAIN = [
  'PROTOCOL',
  'RESPONSE_CODE',
  'RESPONSE_FLAGS',
  'RESPONSE_FLAGS_LONG',
  'BYTES_RECEIVED',
  'BYTES_SENT',
  'DURATION',
  'REQUEST_DURATION',
  'RESPONSE_DURATION',
  'RESPONSE_TX_DURATION',
  'UPSTREAM_HOST',
  'UPSTREAM_CLUSTER',
  'UPSTREAM_CLUSTER_RAW',
  'UPSTREAM_LOCAL_ADDRESS',
  'UPSTREAM_LOCAL_PORT',
  'UPSTREAM_REMOTE_ADDRESS',
  'UPSTREAM_REMOTE_PORT',
  'UPSTREAM_PROTOCOL',
  'UPSTREAM_REQUEST_ATTEMPT_COUNT',
  'UPSTREAM_TRANSPORT_FAILURE_REASON',
  'UPSTREAM_WIRE_BYTES_SENT',
  'UPSTREAM_WIRE_BYTES_RECEIVED',
  'UPSTREAM_HEADER_BYTES_SENT',
  'UPSTREAM_HEADER_BYTES_RECEIVED',
  'DOWNSTREAM_REMOTE_ADDRESS',
  'DOWNSTREAM_REMOTE_PORT',
  'DOWNSTREAM_DIRECT_REMOTE_ADDRESS',
  'DOWNSTREAM_DIRECT_REMOTE_PORT',
  'DOWNSTREAM_LOCAL_ADDRESS',
  'DOWNSTREAM_LOCAL_PORT',
  'DOWNSTREAM_DIRECT_LOCAL_ADDRESS',
  'DOWNSTREAM_DIRECT_LOCAL_PORT',
  'DOWNSTREAM_WIRE_BYTES_SENT',
  'DOWNSTREAM_WIRE_BYTES_RECEIVED',
  'DOWNSTREAM_HEADER_BYTES_SENT',
  'DOWNSTREAM_HEADER_BYTES_RECEIVED',
  'ROUTE_NAME',
  'VIRTUAL_CLUSTER_NAME',
  'CONNECTION_ID',
  'STREAM_ID',
  'CONNECTION_TERMINATION_DETAILS',
  'FILTER_CHAIN_NAME',
  'LOCAL_REPLY_BODY',
  'UNIQUE_ID',
  'REQUEST_HEADERS_BYTES',
  'RESPONSE_HEADERS_BYTES',
  'RESPONSE_TRAILERS_BYTES',
  'DOWNSTREAM_TRANSPORT_FAILURE_REASON',
  'TLS_JA3_FINGERPRINT',
  'TLS_JA4_FINGERPRINT',
] as const;

const ADDRESS_ONLY = [
  'UPSTREAM_LOCAL_ADDRESS_WITHOUT_PORT',
  'UPSTREAM_REMOTE_ADDRESS_WITHOUT_PORT',
  'DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT',
  'DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT',
  'DOWNSTREAM_LOCAL_ADDRESS_WITHOUT_PORT',
  'DOWNSTREAM_DIRECT_LOCAL_ADDRESS_WITHOUT_PORT',
] as const;

/** What is told of either side of TLS. */
const OF_TLS = [
  'TLS_VERSION',
  'TLS_CIPHER',
  'TLS_SESSION_ID',
  'TLS_GROUP',
  'PEER_SUBJECT',
  'PEER_ISSUER',
  'PEER_CERT',
  'PEER_URI_SAN',
  'PEER_DNS_SAN',
  'PEER_IP_SAN',
  'LOCAL_URI_SAN',
  'LOCAL_DNS_SAN',
  'LOCAL_IP_SAN',
] as const;
/** And only of the clients'. */
const OF_DOWNSTREAM_TLS = [
  'PEER_EMAIL_SAN',
  'PEER_OTHERNAME_SAN',
  'LOCAL_EMAIL_SAN',
  'LOCAL_OTHERNAME_SAN',
  'LOCAL_SUBJECT',
  'PEER_FINGERPRINT_256',
  'PEER_FINGERPRINT_1',
  'PEER_CHAIN_FINGERPRINTS_256',
  'PEER_CHAIN_FINGERPRINTS_1',
  'PEER_SERIAL',
  'PEER_CHAIN_SERIALS',
] as const;

const VALIDITY_OF_TLS = [
  'DOWNSTREAM_PEER_CERT_V_START',
  'DOWNSTREAM_PEER_CERT_V_END',
  'UPSTREAM_PEER_CERT_V_START',
  'UPSTREAM_PEER_CERT_V_END',
] as const;

/** Every operator that is supported, by its name. */
export const OPERATORS: ReadonlyMap<string, OperatorRule> = new Map<string, OperatorRule>([
  ...PLAIN.map((name) => [name, plain(Operator[name])] as const),
  ...ADDRESS_ONLY.map((name) => [name, addressOnly(Operator[name])] as const),
  ...[...OF_TLS, ...OF_DOWNSTREAM_TLS].map(
    (name) => [`DOWNSTREAM_${name}`, ofTls(Operator.DOWNSTREAM_TLS, name)] as const,
  ),
  ...OF_TLS.map((name) => [`UPSTREAM_${name}`, ofTls(Operator.UPSTREAM_TLS, name)] as const),
  ...VALIDITY_OF_TLS.map((name) => [name, time(Operator[name])] as const),
  // Only filters that are not here set custom flags: they read as no text.
  ['CUSTOM_FLAGS', { argument: 'none', lengthAllowed: false, compile: () => ({ argument: '' }) }],
  ['DYNAMIC_METADATA', { argument: 'required', lengthAllowed: true, compile: compileMetadata }],
  ['FILTER_STATE', { argument: 'optional', lengthAllowed: true, compile: compileFilterState }],
  ['REQ', header(Operator.REQ)],
  ['REQUEST_HEADER', header(Operator.REQ)],
  ['RESP', header(Operator.RESP)],
  ['RESPONSE_HEADER', header(Operator.RESP)],
  ['TRAILER', header(Operator.TRAILER)],
  ['START_TIME', time(Operator.START_TIME)],
  [
    'QUERY_PARAM',
    {
      argument: 'required',
      lengthAllowed: true,
      compile: ({ argument, length }) => ({
        operator: Operator.QUERY_PARAM,
        argument,
        max_length: length,
      }),
    },
  ],
  [
    'RESPONSE_CODE_DETAILS',
    { argument: 'optional', lengthAllowed: false, compile: compileResponseCodeDetails },
  ],
  ['PATH', { argument: 'optional', lengthAllowed: true, compile: compilePath }],
  ['GRPC_STATUS', { argument: 'optional', lengthAllowed: false, compile: compileGrpcStatus }],
  [
    'GRPC_STATUS_NUMBER',
    {
      argument: 'none',
      lengthAllowed: false,
      compile: () => ({ operator: Operator.GRPC_STATUS, argument: 'NUMBER' }),
    },
  ],
  [
    'REQUESTED_SERVER_NAME',
    { argument: 'optional', lengthAllowed: false, compile: compileServerName },
  ],
  [
    'COMMON_DURATION',
    { argument: 'required', lengthAllowed: false, compile: compileCommonDuration },
  ],
  ['ENVIRONMENT', { argument: 'required', lengthAllowed: true, compile: compileEnvironment }],
  [
    'HOSTNAME',
    { argument: 'none', lengthAllowed: false, compile: () => ({ argument: hostname() }) },
  ],
  [
    'ACCESS_LOG_TYPE',
    {
      argument: 'none',
      lengthAllowed: false,
      compile: ({ use }) => ({ argument: ACCESS_LOG_TYPES[use] }),
    },
  ],
]);

/** Operators of the real server that are known, but not supported yet: refused by their name. */
export const NOT_YET: ReadonlySet<string> = new Set([
  'START_TIME_LOCAL',
  'EMIT_TIME',
  'EMIT_TIME_LOCAL',
  'REQUEST_TX_DURATION',
  'DOWNSTREAM_HANDSHAKE_DURATION',
  'ROUNDTRIP_DURATION',
  'UPSTREAM_CONNECTION_POOL_READY_DURATION',
  'BYTES_RETRANSMITTED',
  'PACKETS_RETRANSMITTED',
  'UPSTREAM_HOST_NAME',
  'UPSTREAM_HOST_NAME_WITHOUT_PORT',
  'UPSTREAM_CONNECTION_ID',
  'UPSTREAM_DECOMPRESSED_HEADER_BYTES_SENT',
  'UPSTREAM_DECOMPRESSED_HEADER_BYTES_RECEIVED',
  'UPSTREAM_DETECTED_CLOSE_TYPE',
  'UPSTREAM_LOCAL_CLOSE_REASON',
  'UPSTREAM_HOSTS_ATTEMPTED',
  'UPSTREAM_HOSTS_ATTEMPTED_WITHOUT_PORT',
  'UPSTREAM_HOST_NAMES_ATTEMPTED',
  'UPSTREAM_HOST_NAMES_ATTEMPTED_WITHOUT_PORT',
  'UPSTREAM_CONNECTION_IDS_ATTEMPTED',
  'UPSTREAM_FILTER_STATE',
  'DOWNSTREAM_LOCAL_ADDRESS_ENDPOINT_ID',
  'DOWNSTREAM_DIRECT_LOCAL_ADDRESS_ENDPOINT_ID',
  'DOWNSTREAM_LOCAL_CLOSE_REASON',
  'DOWNSTREAM_DETECTED_CLOSE_TYPE',
  'DOWNSTREAM_DECOMPRESSED_HEADER_BYTES_SENT',
  'DOWNSTREAM_DECOMPRESSED_HEADER_BYTES_RECEIVED',
  'QUERY_PARAMS',
  'TRACE_ID',
  'SPAN_ID',
  'METADATA',
  'CLUSTER_METADATA',
  'UPSTREAM_METADATA',
  'CEL',
  'TYPED_CEL',
  'COALESCE',
]);
