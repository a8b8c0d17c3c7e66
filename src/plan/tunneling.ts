// TCP through a tunnel: what is said to the proxy that hosts of the cluster are.
import type {
  envoy_config_core_v3_HeaderValueOption as HeaderValueOption,
  envoy_extensions_filters_network_tcp_proxy_v3_TcpProxy_TunnelingConfig as TunnelingConfig,
} from '../../build/messages.gen.js';
import type { CompileContext } from './extension.js';
import { compileFormat, type OwnOperators } from './format/format.js';
import { readFormatters } from './format-string/formatters.js';
import type { Place } from './message/place.js';
import { refuseOtherFields, supportedFields } from './message/supported-fields.js';
import type { HeaderMutations, TunnelingConfig as TunnelingPlan } from './plan.gen.js';
import { compileAddition } from './route/header-mutations.js';

const FIELDS = supportedFields<TunnelingConfig>(
  'envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.TunnelingConfig',
  [
    'hostname',
    'use_post',
    'headers_to_add',
    'propagate_response_headers',
    'post_path',
    'propagate_response_trailers',
    'request_id_extension',
    'request_id_header',
    'request_id_metadata_key',
    'formatters',
  ],
);

const UUID = 'envoy.extensions.request_id.uuid.v3.UuidRequestIdConfig';

export function compileTunneling(
  config: TunnelingConfig | undefined,
  place: Place,
  context: CompileContext,
): TunnelingPlan | undefined {
  if (!config) return undefined;
  refuseOtherFields(place, config, FIELDS);
  // As a line of a log: what is not there is a dash.
  const hostname = compileFormat(config.hostname ?? '', 'tcp_log');
  if ('error' in hostname) {
    place.field('hostname').error(hostname.error, hostname);
    return undefined;
  }
  if (config.post_path && !config.use_post) {
    place.field('post_path').error("Can't set a post path when POST method isn't used");
  }
  if (config.post_path && !config.post_path.startsWith('/')) {
    place.field('post_path').error(`"${config.post_path}" is no path: it must begin with "/"`);
  }
  const own = readFormatters(config.formatters, place.field('formatters'), context);
  return {
    hostname: hostname.format,
    headers: compileHeaders(config.headers_to_add ?? [], place.field('headers_to_add'), own),
    use_post: config.use_post,
    post_path: config.post_path || '/',
    propagate_response_headers: config.propagate_response_headers,
    propagate_response_trailers: config.propagate_response_trailers,
    ...compileRequestId(config, place),
  };
}

function compileHeaders(
  options: readonly HeaderValueOption[],
  place: Place,
  own: OwnOperators | undefined,
): HeaderMutations | undefined {
  const added = options.flatMap((option, i) => compileAddition(option, place.index(i), own) ?? []);
  if (added.length === 0) return undefined;
  return { request_add: added, request_remove: [], response_add: [], response_remove: [] };
}

/** As the real server, which makes ids only where an extension is named that makes them. */
function compileRequestId(config: TunnelingConfig, place: Place): Partial<TunnelingPlan> {
  const extension = config.request_id_extension?.typed_config;
  if (!extension) return {};
  if (extension.$type !== UUID) {
    const at = place.field('request_id_extension').field('typed_config');
    at.error(`is not supported: ids are made by ${UUID}`);
    return {};
  }
  return {
    request_id_header: config.request_id_header || 'x-request-id',
    request_id_metadata_key: config.request_id_metadata_key || 'tunnel_request_id',
  };
}
