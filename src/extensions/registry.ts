// Every extension that is supported, by what it extends. A new one is a file of its own and a line
// here.
import type { Registry } from '../plan/extension.js';
import { fileAccessLog } from './access-loggers/file.js';
import { httpGrpcAccessLog } from './access-loggers/http-grpc.js';
import { openTelemetryAccessLog } from './access-loggers/open-telemetry.js';
import { stderrAccessLog } from './access-loggers/stderr.js';
import { stdoutAccessLog } from './access-loggers/stdout.js';
import { tcpGrpcAccessLog } from './access-loggers/tcp-grpc.js';
import { clientSideWeightedRoundRobin } from './balancers/client-side-weighted-round-robin.js';
import { leastRequest } from './balancers/least-request.js';
import { loadAwareLocality } from './balancers/load-aware-locality.js';
import { maglev } from './balancers/maglev.js';
import { overrideHost } from './balancers/override-host.js';
import { random } from './balancers/random.js';
import { ringHash } from './balancers/ring-hash.js';
import { roundRobin } from './balancers/round-robin.js';
import { subset } from './balancers/subset.js';
import { wrrLocality } from './balancers/wrr-locality.js';
import {
  brotliDecoder,
  brotliEncoder,
  gzipDecoder,
  gzipEncoder,
  zstdDecoder,
  zstdEncoder,
} from './codings/libraries.js';
import { fileSystemHttpCache } from './caches/file-system-http-cache.js';
import { simpleHttpCache } from './caches/simple-http-cache.js';
import { adaptiveConcurrency } from './http/adaptive-concurrency.js';
import { admissionControl } from './http/admission-control.js';
import { bandwidthLimit } from './http/bandwidth-limit.js';
import { apiKeyAuth } from './http/api-key-auth.js';
import { awsRequestSigning } from './http/aws-request-signing.js';
import { basicAuth } from './http/basic-auth.js';
import { bodySizeLimit } from './http/body-size-limit.js';
import { buffer } from './http/buffer.js';
import { cache } from './http/cache.js';
import { cdnLoop } from './http/cdn-loop.js';
import { compressor } from './http/compressor.js';
import { connectGrpcBridge } from './http/connect-grpc-bridge.js';
import { cors } from './http/cors.js';
import { credentialInjector } from './http/credential-injector.js';
import { csrf } from './http/csrf.js';
import { dynamicForwardProxy } from './http/dynamic-forward-proxy.js';
import { extAuthz } from './http/ext-authz.js';
import { extProc } from './http/ext-proc.js';
import { customResponse } from './http/custom-response.js';
import { decompressor } from './http/decompressor.js';
import { fault } from './http/fault.js';
import { grpcHttp1Bridge } from './http/grpc-http1-bridge.js';
import { grpcHttp1ReverseBridge } from './http/grpc-http1-reverse-bridge.js';
import { grpcJsonTranscoder } from './http/grpc-json-transcoder.js';
import { grpcStats } from './http/grpc-stats.js';
import { grpcWeb } from './http/grpc-web.js';
import { headerMutation } from './http/header-mutation.js';
import { headerToMetadata } from './http/header-to-metadata.js';
import { healthCheck } from './http/health-check.js';
import { ipTagging } from './http/ip-tagging.js';
import { originalSrcFilter } from './http/original-src.js';
import { jsonToMetadata } from './http/json-to-metadata.js';
import { jwtAuthn } from './http/jwt-authn.js';
import { localRatelimit } from './http/local-ratelimit.js';
import { composite, matchDelegate } from './http/matched.js';
import { oauth2 } from './http/oauth2.js';
import { onDemand } from './http/on-demand.js';
import { ratelimit } from './http/ratelimit.js';
import { rbac } from './http/rbac.js';
import { router } from './http/router.js';
import { setFilterState } from './http/set-filter-state.js';
import { setMetadata } from './http/set-metadata.js';
import { statefulSession } from './http/stateful-session.js';
import { tap } from './http/tap.js';
import { upstreamCodec } from './http/upstream-codec.js';
import { httpInspector } from './listener/http-inspector.js';
import { listenerLocalRatelimit } from './listener/local-ratelimit.js';
import { originalDst } from './listener/original-dst.js';
import { proxyProtocol } from './listener/proxy-protocol.js';
import { originalSrc } from './listener/original-src.js';
import { acceptState } from './listener/set-filter-state.js';
import { tlsInspector } from './listener/tls-inspector.js';
import { connectionLimit } from './network/connection-limit.js';
import { directResponse } from './network/direct-response.js';
import { echo } from './network/echo.js';
import { httpConnectionManager } from './network/http-connection-manager.js';
import { networkExtAuthz } from './network/ext-authz.js';
import { networkLocalRatelimit } from './network/local-ratelimit.js';
import { networkRatelimit } from './network/ratelimit.js';
import { networkRbac } from './network/rbac.js';
import { connectionState } from './network/set-filter-state.js';
import { sniCluster } from './network/sni-cluster.js';
import { sniDynamicForwardProxy } from './network/sni-dynamic-forward-proxy.js';
import { tcpProxy } from './network/tcp-proxy.js';
import { cgroupMemory } from './resource-monitors/cgroup-memory.js';
import { cpuUtilization } from './resource-monitors/cpu-utilization.js';
import { downstreamConnections } from './resource-monitors/downstream-connections.js';
import { fixedHeap } from './resource-monitors/fixed-heap.js';
import { injectedResource } from './resource-monitors/injected-resource.js';
import { localResponsePolicy } from './response-policies/local-response.js';
import { redirectPolicy } from './response-policies/redirect.js';
import { omitCanaryHosts } from './retry/omit-canary-hosts.js';
import { omitHostMetadata } from './retry/omit-host-metadata.js';
import { previousHosts } from './retry/previous-hosts.js';
import { previousPriorities } from './retry/previous-priorities.js';
import { dogStatsd } from './stat-sinks/dog-statsd.js';
import { graphiteStatsd } from './stat-sinks/graphite-statsd.js';
import { hystrix } from './stat-sinks/hystrix.js';
import { metricsService } from './stat-sinks/metrics-service.js';
import { statsd } from './stat-sinks/statsd.js';
import { downstreamTls } from './transport-sockets/downstream-tls.js';
import { rawBuffer } from './transport-sockets/raw-buffer.js';
import { http11Proxy } from './transport-sockets/http-11-proxy.js';
import { internalUpstream } from './transport-sockets/internal-upstream.js';
import { upstreamProxyProtocol } from './transport-sockets/upstream-proxy-protocol.js';
import { upstreamTls } from './transport-sockets/upstream-tls.js';
import { httpProtocolOptions } from './upstreams/http-protocol-options.js';
import { tcpProtocolOptions } from './upstreams/tcp-protocol-options.js';
import { openTelemetryStats } from './stat-sinks/open-telemetry.js';
import { datadog } from './tracers/datadog.js';
import { openTelemetry } from './tracers/open-telemetry.js';
import { skyWalking } from './tracers/sky-walking.js';
import { zipkin } from './tracers/zipkin.js';
import { abortAction } from './watchdog-actions/abort.js';
import { backtraceAction } from './watchdog-actions/backtrace.js';
import { profileAction } from './watchdog-actions/profile.js';

export const REGISTRY: Registry = {
  listenerFilters: [
    proxyProtocol,
    originalDst,
    originalSrc,
    acceptState,
    httpInspector,
    listenerLocalRatelimit,
    tlsInspector,
  ],
  networkFilters: [
    httpConnectionManager,
    tcpProxy,
    directResponse,
    echo,
    connectionState,
    sniCluster,
    sniDynamicForwardProxy,
    networkExtAuthz,
    networkRatelimit,
    networkRbac,
    connectionLimit,
    networkLocalRatelimit,
  ],
  httpFilters: [
    healthCheck,
    tap,
    cors,
    buffer,
    bodySizeLimit,
    cdnLoop,
    fault,
    grpcWeb,
    grpcStats,
    grpcHttp1Bridge,
    grpcHttp1ReverseBridge,
    grpcJsonTranscoder,
    connectGrpcBridge,
    localRatelimit,
    csrf,
    basicAuth,
    headerMutation,
    rbac,
    dynamicForwardProxy,
    matchDelegate,
    composite,
    oauth2,
    onDemand,
    extAuthz,
    extProc,
    ratelimit,
    compressor,
    decompressor,
    bandwidthLimit,
    cache,
    customResponse,
    admissionControl,
    adaptiveConcurrency,
    jwtAuthn,
    apiKeyAuth,
    credentialInjector,
    awsRequestSigning,
    headerToMetadata,
    ipTagging,
    originalSrcFilter,
    jsonToMetadata,
    setFilterState,
    setMetadata,
    statefulSession,
    router,
  ],
  upstreamHttpFilters: [
    upstreamCodec,
    buffer,
    headerMutation,
    credentialInjector,
    awsRequestSigning,
    admissionControl,
    compressor,
    { ...rbac, name: 'envoy.filters.http.upstream_rbac' },
    matchDelegate,
    composite,
  ],
  accessLoggers: [
    fileAccessLog,
    stdoutAccessLog,
    stderrAccessLog,
    httpGrpcAccessLog,
    tcpGrpcAccessLog,
    openTelemetryAccessLog,
  ],
  downstreamTransportSockets: [rawBuffer, downstreamTls],
  upstreamTransportSockets: [
    rawBuffer,
    upstreamTls,
    upstreamProxyProtocol,
    http11Proxy,
    internalUpstream,
  ],
  protocolOptions: [httpProtocolOptions, tcpProtocolOptions],
  balancers: [
    roundRobin,
    leastRequest,
    random,
    ringHash,
    maglev,
    subset,
    clientSideWeightedRoundRobin,
    wrrLocality,
    loadAwareLocality,
    overrideHost,
  ],
  retryHostPredicates: [previousHosts, omitCanaryHosts, omitHostMetadata],
  retryPriorities: [previousPriorities],
  statSinks: [statsd, dogStatsd, graphiteStatsd, metricsService, hystrix, openTelemetryStats],
  responsePolicies: [localResponsePolicy, redirectPolicy],
  caches: [simpleHttpCache, fileSystemHttpCache],
  encoders: [gzipEncoder, brotliEncoder, zstdEncoder],
  decoders: [gzipDecoder, brotliDecoder, zstdDecoder],
  resourceMonitors: [
    fixedHeap,
    cgroupMemory,
    cpuUtilization,
    downstreamConnections,
    injectedResource,
  ],
  tracers: [zipkin, openTelemetry, datadog, skyWalking],
  watchdogActions: [abortAction, backtraceAction, profileAction],
};
