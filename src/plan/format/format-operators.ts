// The operators of substitution formats: what each takes, and what it becomes in a plan.
import { hostname } from 'node:os';
import {
  FormatPiece_MetadataSource as Source,
  FormatPiece_Operator as Operator,
  type FormatPiece,
} from '../plan.gen.js';
import { PATH_SEPARATOR } from './metadata-values.js';
import {
  ADDRESS_ONLY,
  OF_DOWNSTREAM_TLS,
  OF_TLS,
  PLAIN,
  VALIDITY_OF_TLS,
} from './operator-names.js';

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

/** Of an IPv6 address. */
const LONGEST_PREFIX = 128;

/** A header's name with an optional second choice: "x-a?:path". */
const HEADER_TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~:-]*$/;

function plain(operator: Operator): OperatorRule {
  return { argument: 'none', lengthAllowed: false, compile: () => ({ operator }) };
}

/** What always has the same number, 0. */
const ZERO: OperatorRule = plain(Operator.ZERO);

export function header(operator: Operator): OperatorRule {
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

/** An address without its port, or the network of so many bits that it is in. */
function addressOnly(operator: Operator): OperatorRule {
  const compile = ({ argument }: Command): Compiled => {
    if (/^\d+$/.test(argument)) {
      return { operator, prefix_length: Math.min(Number(argument), LONGEST_PREFIX) };
    }
    // Of a negative length there is no network.
    return /^-\d+$/.test(argument) ? { argument: '' } : { operator };
  };
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

/** A moment may be destined for a header, which has one line. */
const NEWLINE = /%[-_0^#]*[1-9]*(?:E|O)?n/;

function time(operator: Operator, isLocal = false): OperatorRule {
  return {
    argument: 'optional',
    lengthAllowed: false,
    compile: ({ argument }) =>
      NEWLINE.test(argument)
        ? { error: 'Invalid header configuration. Format string contains newline.' }
        : { operator, argument, ...(isLocal && { local_time: true }) },
  };
}

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
  const [option = '', host = ''] = argument.split(':');
  if (!['', 'SNI_ONLY', 'SNI_FIRST', 'HOST_FIRST'].includes(option)) {
    return {
      error: `Invalid REQUESTED_SERVER_NAME option: '${option}', only 'SNI_ONLY'/'SNI_FIRST'/'HOST_FIRST' are allowed`,
    };
  }
  if (!['', 'ORIG_OR_HOST', 'HOST', 'ORIG'].includes(host)) {
    return {
      error: `Invalid REQUESTED_SERVER_NAME option: '${host}', only 'ORIG_OR_HOST'/'HOST'/'ORIG' are allowed`,
    };
  }
  if (option === '' || option === 'SNI_ONLY') return { operator: Operator.REQUESTED_SERVER_NAME };
  return {
    operator: Operator.SERVER_NAME_OF_REQUEST,
    argument: `${option}:${host || 'ORIG_OR_HOST'}`,
  };
}

function compileCommonDuration({ argument }: Command): Compiled {
  const [from = '', to = '', precision = 'ms', ...rest] = argument.split(':');
  if (!argument.includes(':') || rest.length > 0) {
    return { error: `Invalid common duration configuration: ${argument}.` };
  }
  if (!['ms', 'us', 'ns'].includes(precision)) {
    return { error: `Invalid common duration precision: ${precision}.` };
  }
  // A moment of another name never comes.
  return { operator: Operator.COMMON_DURATION, argument: `${from}:${to}:${precision}` };
}

function compileQueryParams({ argument, length }: Command): Compiled {
  if (!['', 'ORIG', 'DECODED'].includes(argument)) {
    return {
      error: `Invalid QUERY_PARAMS option: '${argument}', only 'ORIG'/'DECODED' are allowed`,
    };
  }
  return { operator: Operator.QUERY_PARAMS, argument, max_length: length };
}

const CLIENT_CERT_KEYS: readonly string[] = [
  'by',
  'hash',
  'cert',
  'chain',
  'subject',
  'uri',
  'dns',
];

function compileClientCertValue({ argument }: Command): Compiled {
  const key = argument.toLowerCase();
  if (key === '') return { error: 'XFCC_VALUE command requires a subcommand' };
  if (!CLIENT_CERT_KEYS.includes(key)) {
    return { error: `XFCC_VALUE command does not support subcommand: ${key}` };
  }
  return { operator: Operator.XFCC_VALUE, argument: key };
}

const METADATA_SOURCES = new Map([
  ['ROUTE', Source.ROUTE],
  ['VIRTUAL_HOST', Source.VIRTUAL_HOST],
  ['CLUSTER', Source.CLUSTER],
  ['UPSTREAM_HOST', Source.UPSTREAM_HOST],
  ['LISTENER', Source.LISTENER],
  ['LISTENER_FILTER_CHAIN', Source.FILTER_CHAIN],
]);

/** Of the source that the first part of the argument names. */
function compileAnyMetadata(command: Command): Compiled {
  const [kind = '', ...rest] = command.argument.split(':');
  const inner = { ...command, argument: rest.join(':') };
  if (kind === 'DYNAMIC') return compileMetadata(inner);
  const source = METADATA_SOURCES.get(kind);
  if (source === undefined) return { error: `${kind} is not supported type of metadata` };
  return compileConfigured(inner, source);
}

function compileConfigured(command: Command, source: Source): Compiled {
  const piece = compileMetadata(command);
  return 'error' in piece || piece.operator === Operator.ABSENT
    ? piece
    : { ...piece, operator: Operator.METADATA, metadata_source: source };
}

function configuredMetadata(source: Source): OperatorRule {
  return {
    argument: 'required',
    lengthAllowed: false,
    compile: (command) => compileConfigured(command, source),
  };
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
/** The filter that gave an answer in place of a host. */
const LOCAL_REPLY_OWNER = 'envoy.filters.network.http_connection_manager.local_reply_owner';

/** What the TCP proxy keeps of a tunnel: only typed texts have it. */
const TUNNEL_STATE = new Map([
  ['envoy.tcp_proxy.propagate_response_headers', Operator.TUNNEL_RESPONSE_HEADERS],
  ['envoy.tcp_proxy.propagate_response_trailers', Operator.TUNNEL_RESPONSE_TRAILERS],
]);

function compileFilterState({ argument, length }: Command): Compiled {
  const [key = '', type = 'TYPED', ...fields] = argument.split(':');
  if (key === '') return { error: 'Invalid filter state configuration, key cannot be empty.' };
  if (!['PLAIN', 'TYPED', 'FIELD'].includes(type)) {
    return { error: 'Invalid filter state serialize type, only support PLAIN/TYPED/FIELD.' };
  }
  const field = fields.join(':');
  if ((type === 'FIELD') !== (field !== '')) {
    return {
      error: 'Invalid filter state serialize type, FIELD should be used with the field name.',
    };
  }
  if (key === PROXY_PROTOCOL_TLV) {
    return { operator: Operator.PROXY_PROTOCOL_TLV, argument: field, max_length: length };
  }
  if (key === LOCAL_REPLY_OWNER && type !== 'FIELD') {
    return { operator: Operator.LOCAL_REPLY_OWNER, argument: type, max_length: length };
  }
  const ofTunnel = TUNNEL_STATE.get(key);
  if (ofTunnel !== undefined) {
    return type === 'TYPED'
      ? { operator: ofTunnel, max_length: length }
      : { operator: Operator.ABSENT };
  }
  const alternative = type === 'PLAIN' ? '' : type === 'FIELD' ? `${type}:${field}` : type;
  return { operator: Operator.FILTER_STATE, argument: key, alternative, max_length: length };
}

/** Connections to hosts have none: the arguments are looked at alone. */
function compileUpstreamFilterState(command: Command): Compiled {
  const piece = compileFilterState(command);
  return 'error' in piece ? piece : { operator: Operator.ABSENT };
}

function compileResponseCodeDetails({ argument }: Command): Compiled {
  return {
    operator: Operator.RESPONSE_CODE_DETAILS,
    argument: argument === 'ALLOW_WHITESPACES' ? argument : '',
  };
}

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
  ['RESPONSE_TRAILER', header(Operator.TRAILER)],
  ['START_TIME', time(Operator.START_TIME)],
  ['START_TIME_LOCAL', time(Operator.START_TIME, true)],
  ['EMIT_TIME', time(Operator.EMIT_TIME)],
  ['EMIT_TIME_LOCAL', time(Operator.EMIT_TIME, true)],
  // Of HTTP/3 alone.
  ['ROUNDTRIP_DURATION', plain(Operator.ABSENT)],
  ['BYTES_RETRANSMITTED', ZERO],
  ['PACKETS_RETRANSMITTED', ZERO],
  ['UPSTREAM_SERVER_NAME', ofTls(Operator.UPSTREAM_TLS, 'SERVER_NAME')],
  [
    'UPSTREAM_FILTER_STATE',
    { argument: 'optional', lengthAllowed: true, compile: compileUpstreamFilterState },
  ],
  ['METADATA', { argument: 'optional', lengthAllowed: true, compile: compileAnyMetadata }],
  ['CLUSTER_METADATA', configuredMetadata(Source.CLUSTER)],
  ['UPSTREAM_METADATA', configuredMetadata(Source.UPSTREAM_HOST)],
  ['QUERY_PARAMS', { argument: 'optional', lengthAllowed: true, compile: compileQueryParams }],
  ['XFCC_VALUE', { argument: 'optional', lengthAllowed: true, compile: compileClientCertValue }],
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
]);

/** Operators of the real server that are known, but not supported: refused by their name. */
export const NOT_YET: ReadonlySet<string> = new Set(['CEL', 'TYPED_CEL']);
