// Every extension that is supported, by what it extends. A new one is a file of its own and a line
// here.
import type { Registry } from '../plan/extension.js';
import { fileAccessLog } from './access-loggers/file.js';
import { stderrAccessLog } from './access-loggers/stderr.js';
import { stdoutAccessLog } from './access-loggers/stdout.js';
import { leastRequest } from './balancers/least-request.js';
import { random } from './balancers/random.js';
import { roundRobin } from './balancers/round-robin.js';
import { buffer } from './http/buffer.js';
import { cors } from './http/cors.js';
import { fault } from './http/fault.js';
import { grpcHttp1Bridge } from './http/grpc-http1-bridge.js';
import { grpcHttp1ReverseBridge } from './http/grpc-http1-reverse-bridge.js';
import { grpcStats } from './http/grpc-stats.js';
import { grpcWeb } from './http/grpc-web.js';
import { healthCheck } from './http/health-check.js';
import { router } from './http/router.js';
import { tap } from './http/tap.js';
import { httpInspector } from './listener/http-inspector.js';
import { originalDst } from './listener/original-dst.js';
import { proxyProtocol } from './listener/proxy-protocol.js';
import { tlsInspector } from './listener/tls-inspector.js';
import { directResponse } from './network/direct-response.js';
import { echo } from './network/echo.js';
import { httpConnectionManager } from './network/http-connection-manager.js';
import { sniCluster } from './network/sni-cluster.js';
import { tcpProxy } from './network/tcp-proxy.js';
import { omitCanaryHosts } from './retry/omit-canary-hosts.js';
import { omitHostMetadata } from './retry/omit-host-metadata.js';
import { previousHosts } from './retry/previous-hosts.js';
import { previousPriorities } from './retry/previous-priorities.js';
import { dogStatsd } from './stat-sinks/dog-statsd.js';
import { hystrix } from './stat-sinks/hystrix.js';
import { metricsService } from './stat-sinks/metrics-service.js';
import { statsd } from './stat-sinks/statsd.js';
import { downstreamTls } from './transport-sockets/downstream-tls.js';
import { rawBuffer } from './transport-sockets/raw-buffer.js';
import { upstreamProxyProtocol } from './transport-sockets/upstream-proxy-protocol.js';
import { upstreamTls } from './transport-sockets/upstream-tls.js';
import { httpProtocolOptions } from './upstreams/http-protocol-options.js';

export const REGISTRY: Registry = {
  listenerFilters: [proxyProtocol, originalDst, httpInspector, tlsInspector],
  networkFilters: [httpConnectionManager, tcpProxy, directResponse, echo, sniCluster],
  httpFilters: [
    healthCheck,
    tap,
    cors,
    buffer,
    fault,
    grpcWeb,
    grpcStats,
    grpcHttp1Bridge,
    grpcHttp1ReverseBridge,
    router,
  ],
  accessLoggers: [fileAccessLog, stdoutAccessLog, stderrAccessLog],
  downstreamTransportSockets: [rawBuffer, downstreamTls],
  upstreamTransportSockets: [rawBuffer, upstreamTls, upstreamProxyProtocol],
  protocolOptions: [httpProtocolOptions],
  balancers: [roundRobin, leastRequest, random],
  retryHostPredicates: [previousHosts, omitCanaryHosts, omitHostMetadata],
  retryPriorities: [previousPriorities],
  statSinks: [statsd, dogStatsd, metricsService, hystrix],
};
