// What a connection manager says of times, paths, codecs, clients' addresses and proxy-status.
import type {
  envoy_config_core_v3_Http1ProtocolOptions as Http1Options,
  envoy_config_core_v3_HttpProtocolOptions as CommonHttpOptions,
  envoy_config_core_v3_SchemeHeaderTransformation as SchemeTransformation,
  envoy_extensions_filters_network_http_connection_manager_v3_HttpConnectionManager as HcmConfig,
  envoy_extensions_filters_network_http_connection_manager_v3_HttpConnectionManager_InternalAddressConfig as InternalAddresses,
} from '../../../build/messages.gen.js';
import { compileCidrRanges } from '../../plan/address/address.js';
import { type CompileContext } from '../../plan/extension.js';
import type { RuntimeReads } from '../../plan/runtime/runtime-reads.js';
import { DEFAULT_IDLE_TIMEOUT_MS, DEFAULT_MAX_HEADERS } from '../../plan/cluster/http-options.js';
import { wholeMs } from '../../plan/message/numbers.js';
import type { Place } from '../../plan/message/place.js';
import {
  HttpConnectionManager_EscapedSlashes as EscapedSlashes,
  HttpConnectionManager_ForwardClientCert as ForwardClientCert,
  HttpConnectionManager_ServerHeader as ServerHeader,
  HttpConnectionManager_Underscores as Underscores,
  type CidrRange,
  type HttpConnectionManager,
  type ProxyStatus,
} from '../../plan/plan.gen.js';
import { compileHeaderCase } from '../../plan/header-case.js';
import { compileStringMatcher } from '../../plan/match/matchers.js';
import { compileCertDetails } from './http-request-parts.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { nameOr } from '../../plan/message/open-enum.js';

export const TYPE =
  'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';

const COMMON = supportedFields<CommonHttpOptions>('envoy.config.core.v3.HttpProtocolOptions', [
  'idle_timeout',
  'max_connection_duration',
  'max_headers_count',
  'max_stream_duration',
  'headers_with_underscores_action',
  'max_requests_per_connection',
  'max_connection_duration_jitter',
  // Of clusters alone.
  'max_response_headers_kb',
]);

// RFC 1918 and RFC 4193, of the latter what is assigned locally; of loopback only what hosts are.
const PRIVATE_RANGES = [
  { address_prefix: '10.0.0.0', prefix_len: 8 },
  { address_prefix: '172.16.0.0', prefix_len: 12 },
  { address_prefix: '192.168.0.0', prefix_len: 16 },
  { address_prefix: '127.0.0.1', prefix_len: 32 },
  { address_prefix: '::1', prefix_len: 128 },
  { address_prefix: 'fd00::', prefix_len: 8 },
];

// Which parser the real server uses, and whether hosts are sent whole URLs, is no matter of clients.
export const HTTP1 = supportedFields<Http1Options>('envoy.config.core.v3.Http1ProtocolOptions', [
  'allow_absolute_url',
  'accept_http_10',
  'default_host_for_http_10',
  'header_key_format',
  'enable_trailers',
  'allow_chunked_length',
  'override_stream_error_on_invalid_http_message',
  'send_fully_qualified_url',
  'use_balsa_parser',
  'allow_custom_methods',
  'ignore_http_11_upgrade',
]);

const SCHEME = supportedFields<SchemeTransformation>(
  'envoy.config.core.v3.SchemeHeaderTransformation',
  ['scheme_to_overwrite', 'match_upstream'],
);

const INTERNAL = supportedFields<InternalAddresses>(`${TYPE}.InternalAddressConfig`, [
  'cidr_ranges',
  'unix_sockets',
]);

const LOG_OPTIONS = supportedFields<NonNullable<HcmConfig['access_log_options']>>(
  `${TYPE}.HcmAccessLogOptions`,
  [
    'access_log_flush_interval',
    'flush_access_log_on_new_request',
    'flush_log_on_tunnel_successfully_established',
  ],
);

const DEFAULT_SERVER_NAME = 'envoy';

const DEFAULT_MAX_REQUEST_HEADERS_KB = 60;

const DEFAULT_STREAM_IDLE_TIMEOUT_MS = 300_000;

const DEFAULT_DRAIN_TIMEOUT_MS = 5000;

const DEFAULT_DELAYED_CLOSE_TIMEOUT_MS = 1000;

const UNDERSCORES = {
  ALLOW: Underscores.ALLOW,
  REJECT_REQUEST: Underscores.REJECT,
  DROP_HEADER: Underscores.DROP,
} as const;

const NORMALIZE_PATH = 'http_connection_manager.normalize_path';
const ESCAPED_SLASHES = 'http_connection_manager.path_with_escaped_slashes_action';
const ESCAPED_SLASHES_ENABLED = `${ESCAPED_SLASHES}_enabled`;
/** As Envoy's enum counts them; 0 is its default. */
const ESCAPED_SLASHES_BY_NUMBER = [
  'KEEP_UNCHANGED',
  'KEEP_UNCHANGED',
  'REJECT_REQUEST',
  'UNESCAPE_AND_REDIRECT',
  'UNESCAPE_AND_FORWARD',
] as const;

/** Older fields say the same, where the newer one does not. */
export function compileLogOptions(config: HcmConfig, place: Place): Partial<HttpConnectionManager> {
  const options = config.access_log_options;
  if (options) {
    const at = place.field('access_log_options');
    refuseOtherFields(at, options, LOG_OPTIONS);
    for (const older of ['flush_access_log_on_new_request', 'access_log_flush_interval'] as const) {
      if (config[older] !== undefined && config[older] !== false) {
        place.field(older).error(`Only one of ${older} or access_log_options can be specified.`);
      }
    }
  }
  return {
    logs_new_requests:
      options?.flush_access_log_on_new_request ?? config.flush_access_log_on_new_request,
    logs_tunnels: options?.flush_log_on_tunnel_successfully_established,
    log_interval_ms: wholeMs(
      options ? options.access_log_flush_interval : config.access_log_flush_interval,
      0,
    ),
  };
}

export function compileTimeouts(config: HcmConfig): Partial<HttpConnectionManager> {
  return {
    stream_idle_timeout_ms: wholeMs(config.stream_idle_timeout, DEFAULT_STREAM_IDLE_TIMEOUT_MS),
    request_timeout_ms: wholeMs(config.request_timeout, 0),
    request_headers_timeout_ms: wholeMs(config.request_headers_timeout, 0),
    drain_timeout_ms: wholeMs(config.drain_timeout, DEFAULT_DRAIN_TIMEOUT_MS),
    drain_timeout_jitter: tenThousandths(config.drain_timeout_jitter),
    safe_max_connection_duration: config.http1_safe_max_connection_duration,
    stream_flush_timeout_ms:
      config.stream_flush_timeout === undefined
        ? undefined
        : wholeMs(config.stream_flush_timeout, 0),
    delayed_close_timeout_ms: wholeMs(
      config.delayed_close_timeout,
      DEFAULT_DELAYED_CLOSE_TIMEOUT_MS,
    ),
  };
}

export function compileCommon(
  common: CommonHttpOptions,
  place: Place,
): Partial<HttpConnectionManager> {
  refuseOtherFields(place, common, COMMON);
  if ('max_response_headers_kb' in common && common.max_response_headers_kb !== undefined) {
    place
      .field('max_response_headers_kb')
      .error('Error: max_response_headers_kb cannot be set on http_connection_manager.', {
        expected: 'max_request_headers_kb of the connection manager',
      });
  }
  return {
    idle_timeout_ms: wholeMs(common.idle_timeout, DEFAULT_IDLE_TIMEOUT_MS),
    max_connection_duration_ms: wholeMs(common.max_connection_duration, 0),
    max_connection_duration_jitter: tenThousandths(common.max_connection_duration_jitter),
    max_stream_duration_ms: wholeMs(common.max_stream_duration, 0),
    max_headers_count: common.max_headers_count ?? DEFAULT_MAX_HEADERS,
    max_requests_per_connection: common.max_requests_per_connection ?? 0,
    underscores:
      UNDERSCORES[nameOr(common.headers_with_underscores_action ?? 'ALLOW', 'REJECT_REQUEST')],
  };
}

export function checkFieldSize(config: HcmConfig, place: Place): void {
  const field = config.http2_protocol_options?.max_header_field_size_kb;
  const head = config.max_request_headers_kb ?? DEFAULT_MAX_REQUEST_HEADERS_KB;
  if (field === undefined || field <= head) return;
  place
    .field('http2_protocol_options')
    .field('max_header_field_size_kb')
    .error('max_header_field_size_kb must not exceed max_request_headers_kb', {
      expected: `at most ${head}`,
    });
}

export function compileHttp1(config: HcmConfig, place: Place): Partial<HttpConnectionManager> {
  const http1 = config.http_protocol_options ?? {};
  refuseOtherFields(place, http1, HTTP1);
  return {
    max_request_headers_kb: config.max_request_headers_kb ?? DEFAULT_MAX_REQUEST_HEADERS_KB,
    refuses_absolute_urls: http1.allow_absolute_url === false,
    accept_http_10: http1.accept_http_10,
    default_host_for_http_10: http1.default_host_for_http_10,
    enable_trailers: http1.enable_trailers,
    allow_chunked_length: http1.allow_chunked_length,
    keeps_after_invalid:
      http1.override_stream_error_on_invalid_http_message ??
      config.stream_error_on_invalid_http_message,
    allows_custom_methods: http1.allow_custom_methods,
    ignored_upgrades: (http1.ignore_http_11_upgrade ?? []).flatMap(
      (matcher, index) =>
        compileStringMatcher(matcher, place.field('ignore_http_11_upgrade').index(index)) ?? [],
    ),
    ...compileHeaderCase(http1.header_key_format, place.field('header_key_format')),
  };
}

/** What is told upstreams and clients about each other and about the proxy. */
export function compileForwarding(
  config: HcmConfig,
  place: Place,
  context: CompileContext,
): Partial<HttpConnectionManager> {
  const scheme = config.scheme_header_transformation ?? {};
  refuseOtherFields(place.field('scheme_header_transformation'), scheme, SCHEME);
  return {
    server_name: config.server_name || DEFAULT_SERVER_NAME,
    server_header: ServerHeader[config.server_header_transformation ?? 'OVERWRITE'],
    scheme_overwrite: scheme.scheme_to_overwrite,
    scheme_of_upstream: scheme.match_upstream,
    via: config.via,
    use_remote_address: config.use_remote_address,
    append_x_forwarded_port: config.append_x_forwarded_port,
    append_local_overload: config.append_local_overload,
    internal_pipes: config.internal_address_config?.unix_sockets,
    https_ports: config.forward_proto_config?.https_destination_ports,
    http_ports: config.forward_proto_config?.http_destination_ports,
    proxy_status: compileProxyStatus(config, context),
    xff_num_trusted_hops: config.xff_num_trusted_hops,
    skip_xff_append: config.skip_xff_append,
    internal_addresses: compileInternal(
      config.internal_address_config,
      place.field('internal_address_config'),
    ),
    local_address: context.localAddress,
    generate_request_id: config.generate_request_id ?? true,
    preserve_external_request_id: config.preserve_external_request_id,
    always_set_request_id_in_response: config.always_set_request_id_in_response,
    add_user_agent: config.add_user_agent,
    local_cluster: context.serviceCluster,
    local_node: context.serviceNode,
    proxy_100_continue: config.proxy_100_continue,
    forward_client_cert: ForwardClientCert[config.forward_client_cert_details ?? 'SANITIZE'],
    client_cert_details: compileCertDetails(
      config.set_current_client_cert_details,
      place.field('set_current_client_cert_details'),
    ),
  };
}

/** Nothing is internal, not even loopback, unless something is said of it; without ranges private ones are. */
function compileInternal(config: InternalAddresses | undefined, place: Place): CidrRange[] {
  if (!config) return [];
  refuseOtherFields(place, config, INTERNAL);
  const ranges = config.cidr_ranges?.length ? config.cidr_ranges : PRIVATE_RANGES;
  return compileCidrRanges(ranges, place.field('cidr_ranges'));
}

/** Of a share, as chance adds it. */
const tenThousandths = (percent: { readonly value?: number } | undefined): number =>
  Math.round((percent?.value ?? 0) * 100);

function compileProxyStatus(
  { proxy_status_config: status, server_name: server }: HcmConfig,
  context: CompileContext,
): ProxyStatus | undefined {
  if (!status) return undefined;
  const named = status.use_node_id ? context.serviceNode : status.literal_proxy_name;
  return {
    proxy_name: named || server || DEFAULT_SERVER_NAME,
    removes_details: status.remove_details,
    removes_flags: status.remove_response_flags,
    sets_status: status.set_recommended_response_code,
  };
}

export function compilePaths(
  config: HcmConfig,
  { runtime }: Pick<CompileContext, 'runtime'>,
): Partial<HttpConnectionManager> {
  return {
    normalize_path: config.normalize_path ?? isDrawn(runtime.numberAnew(NORMALIZE_PATH, 0)),
    merge_slashes: config.merge_slashes,
    escaped_slashes: EscapedSlashes[escapedSlashes(config, runtime)],
    strip_matching_host_port: config.strip_matching_host_port,
    strip_any_host_port: config.strip_any_host_port,
    strip_trailing_host_dot: config.strip_trailing_host_dot,
  };
}

/** The runtime says what is the default, and whether anything is done at all, once as a manager is made. */
function escapedSlashes(config: HcmConfig, runtime: RuntimeReads): keyof typeof EscapedSlashes {
  if (!isDrawn(runtime.numberAnew(ESCAPED_SLASHES_ENABLED, 100))) return 'KEEP_UNCHANGED';
  const action = config.path_with_escaped_slashes_action ?? 'IMPLEMENTATION_SPECIFIC_DEFAULT';
  if (action !== 'IMPLEMENTATION_SPECIFIC_DEFAULT') return nameOr(action, 'UNESCAPE_AND_FORWARD');
  return ESCAPED_SLASHES_BY_NUMBER[runtime.numberAnew(ESCAPED_SLASHES, 1)] ?? 'KEEP_UNCHANGED';
}

const isDrawn = (percent: number): boolean => Math.random() * 100 < percent;
