// The extensions that the real server has (release 1.40 names them in /server_info), of the kinds that a
// configuration may name here: those of them that are not supported are refused as such, and not as
// what nobody knows.
import { formerName } from '../config/v2/v2-extensions.js';

export interface KnownExtension {
  readonly name: string;
  /** Of the message that configures it. */
  readonly type: string;
}

export type Kind = keyof typeof KNOWN;

const KNOWN = {
  listenerFilters: [
    ...family('envoy.filters.listener.', 'envoy.extensions.filters.listener.', {
      dynamic_modules: 'DynamicModuleListenerFilter',
      http_inspector: 'HttpInspector',
      local_ratelimit: 'LocalRateLimit',
      original_dst: 'OriginalDst',
      original_src: 'OriginalSrc',
      proxy_protocol: 'ProxyProtocol',
      set_filter_state: 'Config',
      tls_inspector: 'TlsInspector',
    }),
  ],
  networkFilters: [
    ...family('envoy.filters.network.', 'envoy.extensions.filters.network.', {
      connection_limit: 'ConnectionLimit',
      direct_response: 'Config',
      dubbo_proxy: 'DubboProxy',
      dynamic_modules: 'DynamicModuleNetworkFilter',
      echo: 'Echo',
      ext_authz: 'ExtAuthz',
      ext_proc: 'NetworkExternalProcessor',
      generic_proxy: 'GenericProxy',
      geoip: 'Geoip',
      http_connection_manager: 'HttpConnectionManager',
      local_ratelimit: 'LocalRateLimit',
      mongo_proxy: 'MongoProxy',
      ratelimit: 'RateLimit',
      rbac: 'RBAC',
      redis_proxy: 'RedisProxy',
      reverse_tunnel: 'ReverseTunnel',
      set_filter_state: 'Config',
      sni_cluster: 'SniCluster',
      sni_dynamic_forward_proxy: 'FilterConfig',
      tcp_bandwidth_limit: 'TcpBandwidthLimit',
      tcp_proxy: 'TcpProxy',
      thrift_proxy: 'ThriftProxy',
      wasm: 'Wasm',
      zookeeper_proxy: 'ZooKeeperProxy',
    }),
    {
      name: 'envoy.filters.network.reverse_tunnel_drain_aware_http_connection_manager',
      type: 'envoy.extensions.filters.network.reverse_tunnel.v3.DrainAwareHttpConnectionManager',
    },
  ],
  httpFilters: [
    ...family('envoy.filters.http.', 'envoy.extensions.filters.http.', {
      a2a: 'A2a',
      adaptive_concurrency: 'AdaptiveConcurrency',
      admission_control: 'AdmissionControl',
      ai_protocol_manager: 'AiProtocolManager',
      alternate_protocols_cache: 'FilterConfig',
      api_key_auth: 'ApiKeyAuth',
      aws_eventstream_parser: 'AwsEventstreamParser',
      aws_lambda: 'Config',
      aws_request_signing: 'AwsRequestSigning',
      bandwidth_limit: 'BandwidthLimit',
      bandwidth_share: 'BandwidthShare',
      basic_auth: 'BasicAuth',
      body_size_limit: 'BodySizeLimit',
      buffer: 'Buffer',
      cache: 'CacheConfig',
      cache_v2: 'CacheV2Config',
      cdn_loop: 'CdnLoopConfig',
      composite: 'Composite',
      compressor: 'Compressor',
      connect_grpc_bridge: 'FilterConfig',
      cors: 'Cors',
      credential_injector: 'CredentialInjector',
      csrf: 'CsrfPolicy',
      custom_response: 'CustomResponse',
      decompressor: 'Decompressor',
      dynamic_forward_proxy: 'FilterConfig',
      ext_authz: 'ExtAuthz',
      ext_proc: 'ExternalProcessor',
      fault: 'HTTPFault',
      file_server: 'FileServerConfig',
      file_system_buffer: 'FileSystemBufferFilterConfig',
      filter_chain: 'FilterChainConfig',
      gcp_authn: 'GcpAuthnFilterConfig',
      geoip: 'Geoip',
      grpc_field_extraction: 'GrpcFieldExtractionConfig',
      grpc_http1_bridge: 'Config',
      grpc_http1_reverse_bridge: 'FilterConfig',
      grpc_json_reverse_transcoder: 'GrpcJsonReverseTranscoder',
      grpc_json_transcoder: 'GrpcJsonTranscoder',
      grpc_stats: 'FilterConfig',
      grpc_web: 'GrpcWeb',
      header_mutation: 'HeaderMutation',
      header_to_metadata: 'Config',
      health_check: 'HealthCheck',
      ip_tagging: 'IPTagging',
      json_to_metadata: 'JsonToMetadata',
      jwt_authn: 'JwtAuthentication',
      local_ratelimit: 'LocalRateLimit',
      lua: 'Lua',
      mcp: 'Mcp',
      mcp_json_rest_bridge: 'McpJsonRestBridge',
      mcp_router: 'McpRouter',
      oauth2: 'OAuth2',
      on_demand: 'OnDemand',
      original_src: 'OriginalSrc',
      proto_api_scrubber: 'ProtoApiScrubberConfig',
      proto_message_extraction: 'ProtoMessageExtractionConfig',
      rate_limit_quota: 'RateLimitQuotaFilterConfig',
      ratelimit: 'RateLimit',
      rbac: 'RBAC',
      router: 'Router',
      set_filter_state: 'Config',
      set_metadata: 'Config',
      sse_to_metadata: 'SseToMetadata',
      stateful_session: 'StatefulSession',
      tap: 'Tap',
      thrift_to_metadata: 'ThriftToMetadata',
      transform: 'TransformConfig',
      wasm: 'Wasm',
    }),
    {
      name: 'envoy.extensions.filters.http.dynamic_modules',
      type: 'envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilter',
    },
    {
      name: 'envoy.filters.http.match_delegate',
      type: 'envoy.extensions.common.matching.v3.ExtensionWithMatcher',
    },
  ],
  upstreamHttpFilters: [
    ...family('envoy.filters.http.', 'envoy.extensions.filters.http.', {
      admission_control: 'AdmissionControl',
      ai_protocol_manager: 'AiProtocolManager',
      aws_lambda: 'Config',
      aws_request_signing: 'AwsRequestSigning',
      body_size_limit: 'BodySizeLimit',
      buffer: 'Buffer',
      composite: 'Composite',
      compressor: 'Compressor',
      credential_injector: 'CredentialInjector',
      ext_proc: 'ExternalProcessor',
      header_mutation: 'HeaderMutation',
      lua: 'Lua',
      upstream_codec: 'UpstreamCodec',
      wasm: 'Wasm',
    }),
    {
      name: 'envoy.extensions.filters.http.dynamic_modules',
      type: 'envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilter',
    },
    {
      name: 'envoy.filters.http.match_delegate',
      type: 'envoy.extensions.common.matching.v3.ExtensionWithMatcher',
    },
    {
      name: 'envoy.filters.http.upstream_rbac',
      type: 'envoy.extensions.filters.http.rbac.v3.RBAC',
    },
  ],
  accessLoggers: [
    ...family('envoy.access_loggers.', 'envoy.extensions.access_loggers.', {
      dynamic_modules: 'DynamicModuleAccessLog',
      file: 'FileAccessLog',
      fluentd: 'FluentdAccessLogConfig',
      open_telemetry: 'OpenTelemetryAccessLogConfig',
      stats: 'Config',
      wasm: 'WasmAccessLog',
    }),
    {
      name: 'envoy.access_loggers.http_grpc',
      type: 'envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig',
    },
    {
      name: 'envoy.access_loggers.stderr',
      type: 'envoy.extensions.access_loggers.stream.v3.StderrAccessLog',
    },
    {
      name: 'envoy.access_loggers.stdout',
      type: 'envoy.extensions.access_loggers.stream.v3.StdoutAccessLog',
    },
    {
      name: 'envoy.access_loggers.tcp_grpc',
      type: 'envoy.extensions.access_loggers.grpc.v3.TcpGrpcAccessLogConfig',
    },
  ],
  downstreamTransportSockets: [
    ...family('envoy.transport_sockets.', 'envoy.extensions.transport_sockets.', {
      alts: 'Alts',
      dynamic_modules: 'DynamicModuleTransportSocket',
      quic: 'QuicDownstreamTransport',
      raw_buffer: 'RawBuffer',
      starttls: 'StartTlsConfig',
      tap: 'Tap',
      tcp_stats: 'Config',
      tls: 'DownstreamTlsContext',
    }),
  ],
  upstreamTransportSockets: [
    ...family('envoy.transport_sockets.', 'envoy.extensions.transport_sockets.', {
      alts: 'Alts',
      dynamic_modules: 'DynamicModuleTransportSocket',
      http_11_proxy: 'Http11ProxyUpstreamTransport',
      internal_upstream: 'InternalUpstreamTransport',
      quic: 'QuicUpstreamTransport',
      raw_buffer: 'RawBuffer',
      starttls: 'UpstreamStartTlsConfig',
      tap: 'Tap',
      tcp_stats: 'Config',
      tls: 'UpstreamTlsContext',
    }),
    {
      name: 'envoy.transport_sockets.upstream_proxy_protocol',
      type: 'envoy.extensions.transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport',
    },
  ],
  retryHostPredicates: family('envoy.retry_host_predicates.', 'envoy.extensions.retry.host.', {
    omit_canary_hosts: 'OmitCanaryHostsPredicate',
    omit_host_metadata: 'OmitHostMetadataConfig',
    previous_hosts: 'PreviousHostsPredicate',
  }),
  retryPriorities: family('envoy.retry_priorities.', 'envoy.extensions.retry.priority.', {
    previous_priorities: 'PreviousPrioritiesConfig',
  }),
  statSinks: [
    ...family('envoy.stat_sinks.', 'envoy.extensions.stat_sinks.', {
      dynamic_modules: 'DynamicModuleStatsSink',
      graphite_statsd: 'GraphiteStatsdSink',
      open_telemetry: 'SinkConfig',
      wasm: 'Wasm',
    }),
    { name: 'envoy.stat_sinks.dog_statsd', type: 'envoy.config.metrics.v3.DogStatsdSink' },
    { name: 'envoy.stat_sinks.hystrix', type: 'envoy.config.metrics.v3.HystrixSink' },
    {
      name: 'envoy.stat_sinks.metrics_service',
      type: 'envoy.config.metrics.v3.MetricsServiceConfig',
    },
    { name: 'envoy.stat_sinks.statsd', type: 'envoy.config.metrics.v3.StatsdSink' },
  ],
  responsePolicies: [
    {
      name: 'envoy.extensions.http.custom_response.local_response_policy',
      type: 'envoy.extensions.http.custom_response.local_response_policy.v3.LocalResponsePolicy',
    },
    {
      name: 'envoy.extensions.http.custom_response.redirect_policy',
      type: 'envoy.extensions.http.custom_response.redirect_policy.v3.RedirectPolicy',
    },
  ],
  caches: [
    {
      name: 'envoy.extensions.http.cache.file_system_http_cache',
      type: 'envoy.extensions.http.cache.file_system_http_cache.v3.FileSystemHttpCacheConfig',
    },
    {
      name: 'envoy.extensions.http.cache.simple',
      type: 'envoy.extensions.http.cache.simple_http_cache.v3.SimpleHttpCacheConfig',
    },
  ],
  encoders: codings('compressor'),
  decoders: codings('decompressor'),
  resourceMonitors: [
    ...family('envoy.resource_monitors.', 'envoy.extensions.resource_monitors.', {
      cgroup_memory: 'CgroupMemoryConfig',
      cpu_utilization: 'CpuUtilizationConfig',
      fixed_heap: 'FixedHeapConfig',
      injected_resource: 'InjectedResourceConfig',
    }),
    {
      name: 'envoy.resource_monitors.global_downstream_max_connections',
      type: 'envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig',
    },
  ],
  watchdogActions: [
    { name: 'envoy.watchdog.abort_action', type: 'envoy.watchdog.v3.AbortActionConfig' },
    {
      name: 'envoy.watchdog.backtrace_action',
      type: 'envoy.extensions.watchdog.backtrace_action.v3.BacktraceActionConfig',
    },
    {
      name: 'envoy.watchdog.profile_action',
      type: 'envoy.extensions.watchdog.profile_action.v3.ProfileActionConfig',
    },
  ],
  tracers: [
    { name: 'envoy.tracers.datadog', type: 'envoy.config.trace.v3.DatadogConfig' },
    { name: 'envoy.tracers.dynamic_ot', type: 'envoy.config.trace.v3.DynamicOtConfig' },
    {
      name: 'envoy.tracers.fluentd',
      type: 'envoy.extensions.tracers.fluentd.v3.FluentdConfig',
    },
    { name: 'envoy.tracers.lightstep', type: 'envoy.config.trace.v3.LightstepConfig' },
    { name: 'envoy.tracers.opencensus', type: 'envoy.config.trace.v3.OpenCensusConfig' },
    { name: 'envoy.tracers.opentelemetry', type: 'envoy.config.trace.v3.OpenTelemetryConfig' },
    { name: 'envoy.tracers.skywalking', type: 'envoy.config.trace.v3.SkyWalkingConfig' },
    { name: 'envoy.tracers.xray', type: 'envoy.config.trace.v3.XRayConfig' },
    { name: 'envoy.tracers.zipkin', type: 'envoy.config.trace.v3.ZipkinConfig' },
  ],
} as const satisfies Readonly<Record<string, readonly KnownExtension[]>>;

/** Whether the real server has an extension of this kind for the message. */
export function isKnown(kind: Kind, type: string): boolean {
  const known: readonly KnownExtension[] = KNOWN[kind];
  if (known.some((extension) => extension.type === type)) return true;
  // An HTTP filter is found by what routes say to it, too.
  const folder = type.slice(0, type.lastIndexOf('.') + 1);
  return kind === 'httpFilters' && known.some((extension) => extension.type.startsWith(folder));
}

/** By the name that it has, or had in v2. */
export function knownByName(kind: Kind, name: string): KnownExtension | undefined {
  const known: readonly KnownExtension[] = KNOWN[kind];
  return known.find((extension) => extension.name === name || formerName(extension.type) === name);
}

export const namesOf = (kind: Kind): readonly string[] => KNOWN[kind].map(({ name }) => name);

function codings(side: 'compressor' | 'decompressor'): readonly KnownExtension[] {
  return Object.entries({ brotli: 'Brotli', gzip: 'Gzip', zstd: 'Zstd' }).map(
    ([name, message]) => ({
      name: `envoy.compression.${name}.${side}`,
      type: `envoy.extensions.compression.${name}.${side}.v3.${message}`,
    }),
  );
}

function family(
  names: string,
  types: string,
  messages: Readonly<Record<string, string>>,
): readonly KnownExtension[] {
  return Object.entries(messages).map(([short, message]) => ({
    name: names + short,
    type: `${types}${short}.v3.${message}`,
  }));
}

/** What the real server says of an extension that it does not have. */
export const unregistered = (name: string, type: string): string =>
  `Didn't find a registered implementation for '${name}' with type URL: '${type}'`;
