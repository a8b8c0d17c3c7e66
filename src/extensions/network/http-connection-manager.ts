// envoy.filters.network.http_connection_manager
import type {
  envoy_config_core_v3_Http1ProtocolOptions as Http1Options,
  envoy_config_core_v3_HttpProtocolOptions as CommonHttpOptions,
  envoy_config_core_v3_SchemeHeaderTransformation as SchemeTransformation,
  envoy_extensions_filters_network_http_connection_manager_v3_HttpConnectionManager as HcmConfig,
  envoy_extensions_filters_network_http_connection_manager_v3_HttpFilter as HttpFilter,
  envoy_extensions_filters_network_http_connection_manager_v3_Rds as Rds,
  envoy_extensions_filters_network_http_connection_manager_v3_HttpConnectionManager_InternalAddressConfig as InternalAddresses,
  envoy_extensions_request_id_uuid_v3_UuidRequestIdConfig as UuidConfig,
} from '../../../build/messages.gen.js';
import { compileAccessLogs } from '../../plan/access-log/access-log.js';
import { compileCidrRanges } from '../../plan/address/address.js';
import { type CompileContext, defineExtension } from '../../plan/extension.js';
import type { NetworkFilterPlan } from '../../plan/extension-plans.js';
import { DEFAULT_IDLE_TIMEOUT_MS, DEFAULT_MAX_HEADERS } from '../../plan/cluster/http-options.js';
import { wholeMs } from '../../plan/message/numbers.js';
import type { Place } from '../../plan/message/place.js';
import {
  HttpConnectionManager_Codec as Codec,
  HttpConnectionManager_EscapedSlashes as EscapedSlashes,
  HttpConnectionManager_ForwardClientCert as ForwardClientCert,
  HttpConnectionManager_ServerHeader as ServerHeader,
  HttpConnectionManager_Underscores as Underscores,
  type CidrRange,
  type HttpConnectionManager,
  type ProxyStatus,
} from '../../plan/plan.gen.js';
import { compileConfigSource } from '../../plan/config-source.js';
import type { ChainFilter } from '../../plan/chain-filter.js';
import { compileHeaderCase } from '../../plan/header-case.js';
import { compileLocalReplies } from '../../plan/local-replies.js';
import { compileStringMatcher } from '../../plan/match/matchers.js';
import { compileHttp2Options } from '../../plan/http2-options.js';
import { ownType } from '../http/matched.js';
import { compileCertDetails, compileRequestParts } from './http-request-parts.js';
import { compileRouteTable } from '../../plan/route/route-table.js';
import { compileScopedRoutes } from '../../plan/route/scopes.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { compileTracing } from '../../plan/tracing/tracing.js';
import { compileHttpFilters } from '../http/filter-chain.js';
import { withOwnConfigs } from '../http/own-configs.js';
import { compileUpgrades } from '../http/upgrades.js';

const TYPE = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';
// Connection state of the PROXY protocol is only there behind its listener filter.
const FIELDS = supportedFields<HcmConfig>(
  TYPE,
  [
    'codec_type',
    'stat_prefix',
    'route_config',
    'rds',
    'http_filters',
    'add_user_agent',
    'common_http_protocol_options',
    'http_protocol_options',
    'http2_protocol_options',
    'server_name',
    'server_header_transformation',
    'scheme_header_transformation',
    'max_request_headers_kb',
    'stream_idle_timeout',
    'request_timeout',
    'request_headers_timeout',
    'drain_timeout',
    'delayed_close_timeout',
    'access_log',
    'access_log_flush_interval',
    'flush_access_log_on_new_request',
    'access_log_options',
    'local_reply_config',
    'use_remote_address',
    'xff_num_trusted_hops',
    'internal_address_config',
    'skip_xff_append',
    'via',
    'generate_request_id',
    'preserve_external_request_id',
    'always_set_request_id_in_response',
    'proxy_100_continue',
    'normalize_path',
    'merge_slashes',
    'path_with_escaped_slashes_action',
    'strip_matching_host_port',
    'strip_any_host_port',
    'strip_trailing_host_dot',
    'forward_client_cert_details',
    'set_current_client_cert_details',
    'add_proxy_protocol_connection_state',
    'upgrade_configs',
    'tracing',
    'scoped_routes',
    'request_id_extension',
    'original_ip_detection_extensions',
    'early_header_mutation_extensions',
    'proxy_status_config',
    'append_x_forwarded_port',
    'append_local_overload',
    'http1_safe_max_connection_duration',
    'stream_flush_timeout',
    'forward_client_cert_matcher',
    'forward_proto_config',
    'drain_timeout_jitter',
    'stream_error_on_invalid_http_message',
    'path_normalization_options',
    'typed_header_validation_config',
    'record_route_resolution_stats',
  ],
  {
    http3_protocol_options: {},
  },
);
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
// Which parser the real server uses, and whether hosts are sent whole URLs, is no matter of clients.
const HTTP1 = supportedFields<Http1Options>('envoy.config.core.v3.Http1ProtocolOptions', [
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

const UUIDS = supportedFields<UuidConfig>(
  'envoy.extensions.request_id.uuid.v3.UuidRequestIdConfig',
  ['pack_trace_reason', 'use_request_id_for_trace_sampling'],
);
const LOG_OPTIONS = supportedFields<NonNullable<HcmConfig['access_log_options']>>(
  `${TYPE}.HcmAccessLogOptions`,
  [
    'access_log_flush_interval',
    'flush_access_log_on_new_request',
    'flush_log_on_tunnel_successfully_established',
  ],
);

const RDS = supportedFields<Rds>(
  'envoy.extensions.filters.network.http_connection_manager.v3.Rds',
  ['config_source', 'route_config_name'],
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
const ESCAPED_SLASHES = {
  IMPLEMENTATION_SPECIFIC_DEFAULT: EscapedSlashes.KEEP_UNCHANGED,
  ...EscapedSlashes,
};

const PREMATURE_RESETS = 'overload.premature_reset_total_stream_count';
const PREMATURE_RESET_S = 'overload.premature_reset_min_stream_lifetime_seconds';
const DEFAULT_PREMATURE_RESETS = 500;
const DEFAULT_PREMATURE_RESET_S = 1;

export const httpConnectionManager = defineExtension<HcmConfig, NetworkFilterPlan>({
  name: 'envoy.filters.network.http_connection_manager',
  type: TYPE,
  compile(message, place, outer) {
    const context = { ...outer, httpStatPrefix: message.stat_prefix ?? '' };
    refuseOtherFields(place, message, FIELDS);
    const filters = message.http_filters ?? [];
    const http_filters = withOwnConfigs(filters, place.field('http_filters'), context);
    const upgradesPlace = place.field('upgrade_configs');
    const upgrade_configs = (message.upgrade_configs ?? []).map((upgrade, index) => ({
      ...upgrade,
      filters: withOwnConfigs(
        upgrade.filters ?? [],
        upgradesPlace.index(index).field('filters'),
        context,
      ),
    }));
    const config = { ...message, http_filters, upgrade_configs };
    if (config.strip_matching_host_port && config.strip_any_host_port) {
      place
        .field('strip_any_host_port')
        .error(
          'Error: Only one of `strip_matching_host_port` or `strip_any_host_port` can be set.',
        );
    }
    const tracing =
      config.tracing && compileTracing(config.tracing, place.field('tracing'), context);
    refuseValidators(config, place);
    const ids = compileRequestIds(config, place);
    const chain = compileHttpFilters(http_filters, place.field('http_filters'), context);
    return {
      http: {
        stat_prefix: config.stat_prefix,
        route_table: compileRoutes(config, place, context),
        access_logs: compileAccessLogs(
          config.access_log,
          'http_log',
          place.field('access_log'),
          context,
        ),
        ...compileLogOptions(config, place),
        ...(config.local_reply_config && {
          local_replies: compileLocalReplies(
            config.local_reply_config,
            place.field('local_reply_config'),
            context,
          ),
        }),
        ...chain,
        ...compileUpgrades(upgrade_configs, upgradesPlace, context, chain.router),
        ...compileTimeouts(config),
        ...compileCommon(
          config.common_http_protocol_options ?? {},
          place.field('common_http_protocol_options'),
        ),
        ...compileHttp1(config, place.field('http_protocol_options')),
        ...compileForwarding(config, place, context),
        ...compileRequestParts(config, place, context),
        ...compilePaths(config),
        tracing: tracing && { ...tracing, ignores_request_id: ids.isIgnored },
        keeps_request_ids: ids.isKept,
        codec: Codec[compileCodec(config, place)],
        premature_resets: context.runtime.liveNumber(PREMATURE_RESETS, DEFAULT_PREMATURE_RESETS),
        premature_reset_s: context.runtime.liveNumber(PREMATURE_RESET_S, DEFAULT_PREMATURE_RESET_S),
        http2: compileHttp2Options(
          // What it says itself goes before what the connection manager says.
          {
            ...(config.stream_error_on_invalid_http_message !== undefined && {
              override_stream_error_on_invalid_http_message:
                config.stream_error_on_invalid_http_message,
            }),
            ...config.http2_protocol_options,
          },
          place.field('http2_protocol_options'),
        ),
        records_route_resolution: config.record_route_resolution_stats,
      },
    };
  },
});

/** As in the real server, which is built without validators. */
function refuseValidators(config: HcmConfig, place: Place): void {
  const validators = config.typed_header_validation_config;
  if (validators) {
    place
      .field('typed_header_validation_config')
      .error(
        `This Envoy binary does not support header validator extensions.: '${validators.name ?? ''}'`,
      );
  }
  const { forwarding_transformation: forwarding, http_filter_transformation: filters } =
    config.path_normalization_options ?? {};
  if (forwarding ?? filters) {
    place.field('path_normalization_options').warn('has no effect, as in the real server', {
      expected: 'normalize_path, merge_slashes and path_with_escaped_slashes_action',
    });
  }
}

/** Where the routes are, or will be: '' after an error. */
function compileRoutes(config: HcmConfig, place: Place, context: CompileContext): string {
  // The last one of each is the router.
  const chains = [config.http_filters, ...(config.upgrade_configs ?? []).map((one) => one.filters)];
  const chain = chains
    .flatMap((filters) => (filters ?? []).slice(0, -1))
    .map((filter) => ({ name: filter.name ?? '', type: typeOf(filter) }));
  if (config.rds) return requestRoutes(config, config.rds, place.field('rds'), chain, context);
  if (config.scoped_routes) {
    const at = place.field('scoped_routes');
    return compileScopedRoutes(config.scoped_routes, config.stat_prefix ?? '', at, chain, context);
  }
  const table = compileRouteTable(config.route_config ?? {}, place.field('route_config'), context, {
    validatesClusters: true,
    chain,
    statPrefix: config.stat_prefix ?? '',
  });
  return context.routes.add(table);
}

/** Of one that comes later: what it is going to be, as far as that is known. */
function typeOf({ typed_config: config, config_discovery: discovery }: HttpFilter): string {
  if (!discovery) return ownType(config);
  const [first, ...others] = discovery.type_urls ?? [];
  return others.length === 0 ? (first?.split('/').at(-1) ?? '') : '';
}

function requestRoutes(
  config: HcmConfig,
  rds: Rds,
  place: Place,
  chain: readonly ChainFilter[],
  context: CompileContext,
): string {
  refuseOtherFields(place, rds, RDS);
  const source = compileConfigSource(
    rds.config_source,
    'envoy.config.route.v3.RouteConfiguration',
    place.field('config_source'),
    context,
  );
  const { route_config_name: name = '' } = rds;
  if (!source) return '';
  return context.routes.request({
    name,
    source,
    statPrefix: config.stat_prefix ?? '',
    chain,
  });
}

/** Whether an id says why its request is traced, and whether it decides whether it is. */
function compileRequestIds(
  config: HcmConfig,
  place: Place,
): { readonly isKept: boolean; readonly isIgnored: boolean } {
  const at = place.field('request_id_extension').field('typed_config');
  const message = config.request_id_extension?.typed_config;
  if (!message) return { isKept: false, isIgnored: false };
  if (message.$type !== UUIDS.type) {
    at.error(`request ids by ${message.$type} are not supported yet`, { expected: UUIDS.type });
    return { isKept: false, isIgnored: false };
  }
  const uuids = message as UuidConfig;
  refuseOtherFields(at, uuids, UUIDS);
  return {
    isKept: uuids.pack_trace_reason === false,
    isIgnored: uuids.use_request_id_for_trace_sampling === false,
  };
}

function compileCodec(config: HcmConfig, place: Place): 'AUTO' | 'HTTP1' | 'HTTP2' {
  const type = config.codec_type ?? 'AUTO';
  if (type !== 'HTTP3') return type;
  place.field('codec_type').error('HTTP/3 codec configured on non-QUIC listener.', {
    expected: 'AUTO, HTTP1 or HTTP2: HTTP/3 is not supported yet',
  });
  return 'AUTO';
}

/** Older fields say the same, where the newer one does not. */
function compileLogOptions(config: HcmConfig, place: Place): Partial<HttpConnectionManager> {
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

function compileTimeouts(config: HcmConfig): Partial<HttpConnectionManager> {
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

function compileCommon(common: CommonHttpOptions, place: Place): Partial<HttpConnectionManager> {
  refuseOtherFields(place, common, COMMON);
  return {
    idle_timeout_ms: wholeMs(common.idle_timeout, DEFAULT_IDLE_TIMEOUT_MS),
    max_connection_duration_ms: wholeMs(common.max_connection_duration, 0),
    max_connection_duration_jitter: tenThousandths(common.max_connection_duration_jitter),
    max_stream_duration_ms: wholeMs(common.max_stream_duration, 0),
    max_headers_count: common.max_headers_count ?? DEFAULT_MAX_HEADERS,
    max_requests_per_connection: common.max_requests_per_connection ?? 0,
    underscores: UNDERSCORES[common.headers_with_underscores_action ?? 'ALLOW'],
  };
}

function compileHttp1(config: HcmConfig, place: Place): Partial<HttpConnectionManager> {
  const http1 = config.http_protocol_options ?? {};
  refuseOtherFields(place, http1, HTTP1);
  if (http1.allow_absolute_url === false) {
    place
      .field('allow_absolute_url')
      .error(
        'allow_absolute_url: false of envoy.config.core.v3.Http1ProtocolOptions is not supported yet',
      );
  }
  return {
    max_request_headers_kb: config.max_request_headers_kb ?? DEFAULT_MAX_REQUEST_HEADERS_KB,
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
function compileForwarding(
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

/** Nothing is internal, not even loopback, unless it is said to be. */
function compileInternal(config: InternalAddresses | undefined, place: Place): CidrRange[] {
  if (!config) return [];
  refuseOtherFields(place, config, INTERNAL);
  return compileCidrRanges(config.cidr_ranges, place.field('cidr_ranges'));
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

function compilePaths(config: HcmConfig): Partial<HttpConnectionManager> {
  return {
    normalize_path: config.normalize_path,
    merge_slashes: config.merge_slashes,
    escaped_slashes:
      ESCAPED_SLASHES[config.path_with_escaped_slashes_action ?? 'IMPLEMENTATION_SPECIFIC_DEFAULT'],
    strip_matching_host_port: config.strip_matching_host_port,
    strip_any_host_port: config.strip_any_host_port,
    strip_trailing_host_dot: config.strip_trailing_host_dot,
  };
}
