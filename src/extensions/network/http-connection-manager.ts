// envoy.filters.network.http_connection_manager
import type {
  envoy_extensions_filters_network_http_connection_manager_v3_HttpConnectionManager as HcmConfig,
  envoy_extensions_filters_network_http_connection_manager_v3_HttpFilter as HttpFilter,
  envoy_extensions_filters_network_http_connection_manager_v3_Rds as Rds,
  envoy_extensions_request_id_uuid_v3_UuidRequestIdConfig as UuidConfig,
} from '../../../build/messages.gen.js';
import { compileAccessLogs } from '../../plan/access-log/access-log.js';
import { type CompileContext, defineExtension } from '../../plan/extension.js';
import type { NetworkFilterPlan } from '../../plan/extension-plans.js';
import type { Place } from '../../plan/message/place.js';
import { HttpConnectionManager_Codec as Codec } from '../../plan/plan.gen.js';
import { compileSourceOf } from '../../plan/authority-streams.js';
import type { ChainFilter } from '../../plan/chain-filter.js';
import { compileLocalReplies } from '../../plan/local-replies.js';
import { compileHttp2Options } from '../../plan/http2-options.js';
import { ownType } from '../http/matched.js';
import { compileRequestParts } from './http-request-parts.js';
import { compileRouteTable } from '../../plan/route/route-table.js';
import { compileScopedRoutes } from '../../plan/route/scopes.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { compileTracing } from '../../plan/tracing/tracing.js';
import { compileHttpFilters } from '../http/filter-chain.js';
import { withOwnConfigs } from '../http/own-configs.js';
import { compileUpgrades } from '../http/upgrades.js';
import {
  TYPE,
  compileLogOptions,
  compileTimeouts,
  compileCommon,
  checkFieldSize,
  compileHttp1,
  compileForwarding,
  compilePaths,
} from './http-connection-settings.js';

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
    'represent_ipv4_remote_address_as_ipv4_mapped_ipv6',
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

const UUIDS = supportedFields<UuidConfig>(
  'envoy.extensions.request_id.uuid.v3.UuidRequestIdConfig',
  ['pack_trace_reason', 'use_request_id_for_trace_sampling'],
);

const RDS = supportedFields<Rds>(
  'envoy.extensions.filters.network.http_connection_manager.v3.Rds',
  ['config_source', 'route_config_name'],
);

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
    warnOfMappedAddresses(config, place);
    checkFieldSize(config, place);
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
        ...compilePaths(config, context),
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

/** As in the real server of this release, where nothing reads the field any more. */
function warnOfMappedAddresses(config: HcmConfig, place: Place): void {
  const name = 'represent_ipv4_remote_address_as_ipv4_mapped_ipv6';
  if (config[name]) place.field(name).warn(`${name} has no effect: addresses stay as they are`);
}

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
  // The last one of each is the router; one that comes later has a place like others.
  const chains = [config.http_filters, ...(config.upgrade_configs ?? []).map((one) => one.filters)];
  const chain = chains
    .flatMap((filters = []) =>
      filters.filter((one, index) => index < filters.length - 1 || one.config_discovery),
    )
    .map((filter) => ({ name: filter.name ?? '', type: typeOf(filter) }));
  if (config.rds) return requestRoutes(config, config.rds, place.field('rds'), chain, context);
  if (config.scoped_routes) {
    const at = place.field('scoped_routes');
    return compileScopedRoutes(config.scoped_routes, config.stat_prefix ?? '', at, chain, context);
  }
  const { route_config: written = {}, stat_prefix: statPrefix = '' } = config;
  const table = compileRouteTable(written, place.field('route_config'), context, {
    validatesClusters: true,
    chain,
    statPrefix,
    followsHosts: true,
  });
  return written.vhds
    ? context.routes.request({ name: written.name ?? '', written, statPrefix, chain })
    : context.routes.add(table);
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
  const { route_config_name: name = '' } = rds;
  if (!rds.config_source && !name.startsWith('xdstp:')) {
    place
      .field('config_source')
      .error(
        "An RDS config must have either a 'config_source' or an xDS-TP based 'route_config_name'.",
        { expected: 'config_source' },
      );
    return '';
  }
  const source = compileSourceOf(
    name,
    rds.config_source,
    'envoy.config.route.v3.RouteConfiguration',
    place.field('config_source'),
    context,
  );
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
