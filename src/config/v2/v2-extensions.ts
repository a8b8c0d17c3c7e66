// The names that extensions had in v2, and the v3 message that configures each.

export interface Extension {
  readonly name: string;
  /** Full name of the message that configures it. */
  readonly type: string;
}

/** What kinds of extensions a message of v3 names, by its full name. */
const KINDS: Readonly<Record<string, readonly (readonly [old: string, Extension])[]>> = {
  'envoy.config.listener.v3.Filter': rows(
    'envoy.filters.network.',
    'envoy.extensions.filters.network.',
    [
      ['envoy.http_connection_manager', 'http_connection_manager', 'HttpConnectionManager'],
      ['envoy.tcp_proxy', 'tcp_proxy', 'TcpProxy'],
      ['envoy.redis_proxy', 'redis_proxy', 'RedisProxy'],
      ['envoy.mongo_proxy', 'mongo_proxy', 'MongoProxy'],
      ['envoy.ratelimit', 'ratelimit', 'RateLimit'],
      ['envoy.ext_authz', 'ext_authz', 'ExtAuthz'],
      ['envoy.echo', 'echo', 'Echo'],
      ['', 'rbac', 'RBAC'],
      ['', 'sni_cluster', 'SniCluster'],
      ['', 'thrift_proxy', 'ThriftProxy'],
      ['', 'dubbo_proxy', 'DubboProxy'],
      ['', 'zookeeper_proxy', 'ZooKeeperProxy'],
      ['', 'local_ratelimit', 'LocalRateLimit'],
      ['', 'direct_response', 'Config'],
    ],
  ),
  'envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter': rows(
    'envoy.filters.http.',
    'envoy.extensions.filters.http.',
    [
      ['envoy.router', 'router', 'Router'],
      ['envoy.cors', 'cors', 'Cors'],
      ['envoy.fault', 'fault', 'HTTPFault'],
      ['envoy.buffer', 'buffer', 'Buffer'],
      ['envoy.health_check', 'health_check', 'HealthCheck'],
      ['envoy.rate_limit', 'ratelimit', 'RateLimit'],
      ['envoy.ext_authz', 'ext_authz', 'ExtAuthz'],
      ['envoy.lua', 'lua', 'Lua'],
      ['envoy.grpc_web', 'grpc_web', 'GrpcWeb'],
      ['envoy.grpc_http1_bridge', 'grpc_http1_bridge', 'Config'],
      ['envoy.grpc_json_transcoder', 'grpc_json_transcoder', 'GrpcJsonTranscoder'],
      ['envoy.ip_tagging', 'ip_tagging', 'IPTagging'],
      ['envoy.csrf', 'csrf', 'CsrfPolicy'],
      ['envoy.gzip', 'gzip', 'Gzip'],
      ['', 'adaptive_concurrency', 'AdaptiveConcurrency'],
      ['', 'dynamic_forward_proxy', 'FilterConfig'],
      ['', 'grpc_http1_reverse_bridge', 'FilterConfig'],
      ['', 'grpc_stats', 'FilterConfig'],
      ['', 'header_to_metadata', 'Config'],
      ['', 'jwt_authn', 'JwtAuthentication'],
      ['', 'on_demand', 'OnDemand'],
      ['', 'original_src', 'OriginalSrc'],
      ['', 'rbac', 'RBAC'],
      ['', 'tap', 'Tap'],
    ],
  ),
  'envoy.config.listener.v3.ListenerFilter': rows(
    'envoy.filters.listener.',
    'envoy.extensions.filters.listener.',
    [
      ['envoy.listener.original_dst', 'original_dst', 'OriginalDst'],
      ['envoy.listener.original_src', 'original_src', 'OriginalSrc'],
      ['envoy.listener.http_inspector', 'http_inspector', 'HttpInspector'],
      ['envoy.listener.proxy_protocol', 'proxy_protocol', 'ProxyProtocol'],
      ['envoy.listener.tls_inspector', 'tls_inspector', 'TlsInspector'],
    ],
  ),
  'envoy.config.accesslog.v3.AccessLog': [
    ...rows('envoy.access_loggers.', 'envoy.extensions.access_loggers.', [
      ['envoy.file_access_log', 'file', 'FileAccessLog'],
    ]),
    ['envoy.http_grpc_access_log', grpcLog('http')],
    ['envoy.tcp_grpc_access_log', grpcLog('tcp')],
  ],
  'envoy.config.core.v3.TransportSocket': rows(
    'envoy.transport_sockets.',
    'envoy.extensions.transport_sockets.',
    [
      ['raw_buffer', 'raw_buffer', 'RawBuffer'],
      ['alts', 'alts', 'Alts'],
      ['envoy.transport_sockets.tap', 'tap', 'Tap'],
    ],
  ),
  'envoy.config.metrics.v3.StatsSink': rows('envoy.stat_sinks.', 'envoy.config.metrics.v3.', [
    ['envoy.statsd', 'statsd', 'StatsdSink'],
    ['envoy.dog_statsd', 'dog_statsd', 'DogStatsdSink'],
    ['envoy.metrics_service', 'metrics_service', 'MetricsServiceConfig'],
    ['envoy.stat_sinks.hystrix', 'hystrix', 'HystrixSink'],
  ]),
  'envoy.config.trace.v3.Tracing.Http': rows('envoy.tracers.', 'envoy.config.trace.v3.', [
    ['envoy.zipkin', 'zipkin', 'ZipkinConfig'],
    ['envoy.tracers.datadog', 'datadog', 'DatadogConfig'],
    ['envoy.lightstep', 'lightstep', 'LightstepConfig'],
    ['envoy.dynamic.ot', 'dynamic_ot', 'DynamicOtConfig'],
    ['envoy.tracers.xray', 'xray', 'XRayConfig'],
  ]),
  'envoy.config.overload.v3.ResourceMonitor': rows(
    'envoy.resource_monitors.',
    'envoy.extensions.resource_monitors.',
    [
      ['', 'fixed_heap', 'FixedHeapConfig'],
      ['', 'injected_resource', 'InjectedResourceConfig'],
    ],
  ),
  'envoy.config.core.v3.HealthCheck.CustomHealthCheck': rows(
    'envoy.health_checkers.',
    'envoy.extensions.health_checkers.',
    [['', 'redis', 'Redis']],
  ),
};

const PER_ROUTE: Readonly<Record<string, string>> = {
  buffer: 'BufferPerRoute',
  csrf: 'CsrfPolicy',
  dynamic_forward_proxy: 'PerRouteConfig',
  ext_authz: 'ExtAuthzPerRoute',
  fault: 'HTTPFault',
  grpc_http1_reverse_bridge: 'FilterConfigPerRoute',
  grpc_json_transcoder: 'GrpcJsonTranscoder',
  header_to_metadata: 'Config',
  lua: 'LuaPerRoute',
  rbac: 'RBACPerRoute',
};

const HTTP_FILTERS = 'envoy.filters.http.';
const HTTP_FILTER = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter';
const TLS = 'envoy.transport_sockets.tls';

/** The two sides of TLS are configured by two messages. */
export const TLS_CONTEXTS = {
  upstream: 'envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
  downstream: 'envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext',
} as const;

/** Of an extension that a message of this type names, by its v2 or v3 name. */
export function findExtension(
  holder: string,
  name: string,
  side: keyof typeof TLS_CONTEXTS,
): Extension | undefined {
  // The rows of extensions that never had another name have none.
  if (name === '') return undefined;
  if (holder === 'envoy.config.core.v3.TransportSocket' && (name === 'tls' || name === TLS))
    return { name: TLS, type: TLS_CONTEXTS[side] };
  return KINDS[holder]?.find(([old, extension]) => old === name || extension.name === name)?.[1];
}

/** What the extension that this message configures was called in v2; undefined where it was not. */
export function formerName(type: string): string | undefined {
  FORMER_NAMES ??= new Map(
    Object.values(KINDS)
      .flat()
      .flatMap(([old, extension]) => (old === '' ? [] : [[extension.type, old]])),
  );
  return FORMER_NAMES.get(type);
}
let FORMER_NAMES: ReadonlyMap<string, string> | undefined;

/** Of an HTTP filter, what a route says to it. */
export function findPerRoute(filter: string): Extension | undefined {
  const extension = findExtension(HTTP_FILTER, filter, 'downstream');
  const short = extension?.name.slice(HTTP_FILTERS.length) ?? '';
  const message = Object.hasOwn(PER_ROUTE, short) ? PER_ROUTE[short] : undefined;
  if (!extension || message === undefined) return undefined;
  return { name: extension.name, type: `envoy.extensions.filters.http.${short}.v3.${message}` };
}

/** Of a cluster, what it says to a network filter. */
export function findProtocolOptions(filter: string): Extension | undefined {
  const type = /(?:redis|thrift)_proxy$/.exec(filter)?.[0];
  const prefix = type === 'redis_proxy' ? 'Redis' : 'Thrift';
  if (type === undefined) return undefined;
  return {
    name: `envoy.filters.network.${type}`,
    type: `envoy.extensions.filters.network.${type}.v3.${prefix}ProtocolOptions`,
  };
}

function rows(
  names: string,
  types: string,
  list: readonly (readonly [old: string, name: string, message: string])[],
): readonly (readonly [string, Extension])[] {
  return list.map(([old, name, message]) => {
    const folder = types.endsWith('.v3.') ? '' : `${name}.v3.`;
    return [old, { name: names + name, type: types + folder + message }];
  });
}

function grpcLog(protocol: 'http' | 'tcp'): Extension {
  const message = protocol === 'http' ? 'HttpGrpcAccessLogConfig' : 'TcpGrpcAccessLogConfig';
  return {
    name: `envoy.access_loggers.${protocol}_grpc`,
    type: `envoy.extensions.access_loggers.grpc.v3.${message}`,
  };
}
