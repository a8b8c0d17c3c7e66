// What v3 says in other words than v2, message by message.
import { isObject, type PlainObject } from '../values/objects.js';
import {
  findPerRoute,
  findProtocolOptions,
  TLS_CONTEXTS,
  type Extension,
} from './v2-extensions.js';
import { listOf, objectOf, stringOf, type Site } from './v2-site.js';

const TYPE_URL = 'type.googleapis.com/';

type Rewriter = (site: Site) => void;

const regex = (value: unknown): unknown => ({ regex: value });

/** By the full name of the v3 message. */
export const REWRITERS: ReadonlyMap<string, Rewriter> = new Map<string, Rewriter>([
  ['envoy.config.bootstrap.v3.Bootstrap', bootstrap],
  ['envoy.config.core.v3.Node', (site) => site.drop('build_version', 'nothing: v3 does without')],
  ['envoy.config.cluster.v3.Cluster', cluster],
  ['envoy.config.listener.v3.FilterChain', filterChain],
  [
    'envoy.config.listener.v3.FilterChainMatch',
    (site) => site.move('sni_domains', ['server_names']),
  ],
  ['envoy.config.route.v3.VirtualHost', perFilterConfig],
  ['envoy.config.route.v3.Route', perFilterConfig],
  ['envoy.config.route.v3.WeightedCluster.ClusterWeight', perFilterConfig],
  ['envoy.config.route.v3.RouteMatch', routeMatch],
  ['envoy.config.route.v3.RouteAction', routeAction],
  ['envoy.config.route.v3.RouteAction.RequestMirrorPolicy', mirrorPolicy],
  ['envoy.config.route.v3.CorsPolicy', cors],
  ['envoy.config.route.v3.HeaderMatcher', headerMatcher],
  ['envoy.config.route.v3.QueryParameterMatcher', queryParameter],
  ['envoy.config.route.v3.VirtualCluster', virtualCluster],
  ['envoy.type.matcher.v3.StringMatcher', (site) => site.move('regex', ['safe_regex'], regex)],
  ['envoy.config.core.v3.HealthCheck.HttpHealthCheck', httpHealthCheck],
  ['envoy.config.core.v3.ApiConfigSource', apiConfigSource],
  ['envoy.config.endpoint.v3.ClusterLoadAssignment.Policy', assignmentPolicy],
  ['envoy.config.trace.v3.ZipkinConfig', zipkin],
  [
    'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
    (site) => site.move('idle_timeout', ['common_http_protocol_options', 'idle_timeout']),
  ],
  [
    'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.Tracing',
    tracing,
  ],
  ['envoy.extensions.filters.network.redis_proxy.v3.RedisProxy', redisProxy],
  [
    'envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes',
    (site) => site.move('catch_all_cluster', ['catch_all_route', 'cluster']),
  ],
  ['envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy', tcpProxy],
  [
    'envoy.extensions.filters.http.dynamic_forward_proxy.v3.PerRouteConfig',
    (site) => {
      site.move('host_rewrite', ['host_rewrite_literal']);
      site.move('auto_host_rewrite_header', ['host_rewrite_header']);
    },
  ],
  [
    'envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext',
    (site) => site.moveItems('verify_subject_alt_name', ['match_subject_alt_names'], ['exact']),
  ],
]);

function bootstrap(site: Site): void {
  const runtime = site.take('runtime');
  if (!isObject(runtime)) return;
  const { symlink_root: root, subdirectory: folder, override_subdirectory: override } = runtime;
  const layers: PlainObject[] = [];
  if (isObject(runtime['base'])) layers.push({ name: 'base', static_layer: runtime['base'] });
  if (root !== undefined) {
    const disk = { symlink_root: root, subdirectory: folder };
    layers.push({ name: 'root', disk_layer: disk });
    if (override !== undefined) {
      const overriding = {
        symlink_root: root,
        subdirectory: override,
        append_service_cluster: true,
      };
      layers.push({ name: 'override', disk_layer: overriding });
    }
  }
  layers.push({ name: 'admin', admin_layer: {} });
  site.put(['layered_runtime', 'layers'], layers, ['runtime']);
  site.note('runtime', 'layered_runtime');
}

function cluster(site: Site): void {
  if (site.has('hosts') && !site.has('load_assignment')) {
    site.moveItems(
      'hosts',
      ['load_assignment', 'endpoints', 0, 'lb_endpoints'],
      ['endpoint', 'address'],
    );
    site.put(['load_assignment', 'cluster_name'], site.get('name') ?? '', ['name']);
  } else if (site.has('hosts')) {
    site.refuse('hosts', 'cannot be upgraded beside load_assignment');
  }
  tlsContext(site, TLS_CONTEXTS.upstream);
  site.move('drain_connections_on_host_removal', ['ignore_health_on_host_removal']);
  if (stringOf(site.get('lb_policy')).toUpperCase() === 'ORIGINAL_DST_LB')
    site.move('lb_policy', ['lb_policy'], () => 'CLUSTER_PROVIDED');
  typedMap(
    site,
    'extension_protocol_options',
    'typed_extension_protocol_options',
    findProtocolOptions,
  );
}

function filterChain(site: Site): void {
  tlsContext(site, TLS_CONTEXTS.downstream);
}

function tlsContext(site: Site, type: string): void {
  if (!site.has('tls_context')) return;
  const context = objectOf(site.take('tls_context'));
  const socket = { name: 'envoy.transport_sockets.tls' };
  site.put(['transport_socket'], socket, ['tls_context']);
  const typed = { '@type': TYPE_URL + type, ...context };
  site.put(['transport_socket', 'typed_config'], typed, ['tls_context']);
  site.note('tls_context', 'transport_socket');
}

function perFilterConfig(site: Site): void {
  typedMap(site, 'per_filter_config', 'typed_per_filter_config', findPerRoute);
}

/** A map of Structs by the name of a filter to one of typed messages. */
function typedMap(
  site: Site,
  from: string,
  to: string,
  find: (name: string) => Extension | undefined,
): void {
  if (!site.has(from)) return;
  const entries = objectOf(site.take(from));
  for (const name of Object.keys(entries)) {
    const extension = find(name);
    if (!extension) {
      const path = [...site.path, from, name];
      site.log.problems.push({ path, message: `cannot be upgraded: "${name}" is not supported` });
      continue;
    }
    const typed = { '@type': TYPE_URL + extension.type, ...objectOf(entries[name]) };
    site.put([to, extension.name], typed, [from, name]);
  }
  site.note(from, to);
}

function routeMatch(site: Site): void {
  site.move('regex', ['safe_regex'], regex);
  site.move('runtime', ['runtime_fraction'], (value) => {
    const { default_value: percent = 0, runtime_key: key } = objectOf(value);
    return { default_value: { numerator: percent }, runtime_key: key };
  });
}

function routeAction(site: Site): void {
  site.move('auto_host_rewrite_header', ['host_rewrite_header']);
  if (site.has('request_mirror_policy')) {
    site.put(['request_mirror_policies', 0], site.take('request_mirror_policy'), [
      'request_mirror_policy',
    ]);
    site.note('request_mirror_policy', 'request_mirror_policies');
  }
}

function mirrorPolicy(site: Site): void {
  site.move('runtime_key', ['runtime_fraction'], (key) => ({
    default_value: { numerator: 100 },
    runtime_key: key,
  }));
}

function cors(site: Site): void {
  const exact = site.has('allow_origin') ? listOf(site.get('allow_origin')).length : 0;
  site.moveItems('allow_origin', ['allow_origin_string_match'], ['exact']);
  if (site.has('allow_origin_regex')) {
    const patterns = listOf(site.take('allow_origin_regex'));
    patterns.forEach((pattern, index) =>
      site.put(['allow_origin_string_match', exact + index, 'safe_regex', 'regex'], pattern, [
        'allow_origin_regex',
        index,
      ]),
    );
    site.note('allow_origin_regex', 'allow_origin_string_match');
  }
  site.move('enabled', ['filter_enabled'], (isEnabled) => ({
    default_value: { numerator: isEnabled === false || isEnabled === 'false' ? 0 : 100 },
  }));
}

function headerMatcher(site: Site): void {
  site.move('regex_match', ['string_match', 'safe_regex'], regex);
}

function queryParameter(site: Site): void {
  const isRegex = site.get('regex') === true || site.get('regex') === 'true';
  if (site.has('value')) {
    if (isRegex) site.move('value', ['string_match', 'safe_regex'], regex);
    else site.move('value', ['string_match', 'exact']);
  } else if (!site.has('string_match') && !site.has('present_match')) {
    site.object['present_match'] = true;
  }
  site.drop('regex', 'string_match');
}

function virtualCluster(site: Site): void {
  const before = listOf(site.get('headers') ?? []).length;
  const isMethod = site.has('method');
  site.move('pattern', ['headers', before], (pattern) => ({
    name: ':path',
    string_match: { safe_regex: { regex: pattern } },
  }));
  if (isMethod)
    site.move('method', ['headers', listOf(site.get('headers') ?? []).length], (method) => ({
      name: ':method',
      string_match: { exact: method },
    }));
}

function httpHealthCheck(site: Site): void {
  site.move('service_name', ['service_name_matcher', 'prefix']);
  site.move('use_http2', ['codec_client_type'], (isOn) =>
    isOn === true || isOn === 'true' ? 'HTTP2' : 'HTTP1',
  );
}

function apiConfigSource(site: Site): void {
  const kind = stringOf(site.get('api_type')).toUpperCase();
  if (kind === 'REST_LEGACY' || kind === 'UNSUPPORTED_REST_LEGACY')
    site.refuse('api_type', 'REST_LEGACY cannot be upgraded: v3 has no counterpart');
  if (kind === 'GRPC' && !site.has('grpc_services'))
    site.moveItems('cluster_names', ['grpc_services'], ['envoy_grpc', 'cluster_name']);
}

function assignmentPolicy(site: Site): void {
  const value = site.get('disable_overprovisioning');
  if (value === true || value === 'true')
    site.refuse('disable_overprovisioning', 'cannot be upgraded: v3 has no counterpart');
  else site.drop('disable_overprovisioning', 'nothing: it was off');
}

function zipkin(site: Site): void {
  const version = stringOf(site.get('collector_endpoint_version')).toUpperCase();
  const isFirst = version === 'HTTP_JSON_V1' || !site.has('collector_endpoint_version');
  if (!isFirst) return;
  // Collectors take the second version of the format beside the first.
  site.move('collector_endpoint_version', ['collector_endpoint_version'], () => 'HTTP_JSON');
  if (!site.has('collector_endpoint_version')) {
    site.object['collector_endpoint_version'] = 'HTTP_JSON';
    site.note('collector_endpoint_version unset', 'HTTP_JSON');
  }
  if (site.get('collector_endpoint') === '/api/v1/spans')
    site.move('collector_endpoint', ['collector_endpoint'], () => '/api/v2/spans');
}

function tracing(site: Site): void {
  site.drop('operation_name', "nothing: the listener's traffic_direction tells it");
  if (!site.has('request_headers_for_tags')) return;
  const before = listOf(site.get('custom_tags') ?? []).length;
  listOf(site.take('request_headers_for_tags')).forEach((header, index) => {
    const tag = { tag: header, request_header: { name: header } };
    site.put(['custom_tags', before + index], tag, ['request_headers_for_tags', index]);
  });
  site.note('request_headers_for_tags', 'custom_tags');
}

function redisProxy(site: Site): void {
  site.move('cluster', ['prefix_routes', 'catch_all_route', 'cluster']);
}

function tcpProxy(site: Site): void {
  if (site.has('deprecated_v1'))
    site.refuse('deprecated_v1', 'cannot be upgraded: use cluster and filter_chain_match instead');
}
