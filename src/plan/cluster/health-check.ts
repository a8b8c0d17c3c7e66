// How a cluster's hosts are checked.
import type {
  envoy_config_cluster_v3_Cluster as ClusterMessage,
  envoy_config_core_v3_HealthCheck as HealthCheckMessage,
  envoy_config_core_v3_HealthCheck_GrpcHealthCheck as GrpcCheck,
  envoy_config_core_v3_HealthCheck_HttpHealthCheck as HttpCheck,
  envoy_config_core_v3_HealthCheck_Payload as Payload,
  envoy_config_core_v3_HealthCheck_TcpHealthCheck as TcpCheck,
  envoy_config_core_v3_HealthCheck_TlsOptions as TlsOptions,
  envoy_extensions_health_check_event_sinks_file_v3_HealthCheckEventFileSink as FileSink,
  envoy_type_v3_Int64Range as StatusRangeMessage,
} from '../../../build/messages.gen.js';
import { checkLogPath } from '../access-log/log-path.js';
import { compileHttp2Options } from '../http2-options.js';
import { compileProxyProtocol } from '../proxy-protocol.js';
import { compileStringMatcher } from '../match/matchers.js';
import { wholeMs } from '../message/numbers.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import {
  Cluster_Protocol as Protocol,
  HealthCheck_Kind as Kind,
  type HealthCheck,
  type Http2Options,
  type StatusRange,
} from '../plan.gen.js';
import { compileHeaderMutations } from '../route/header-mutations.js';
import { wantedOf } from '../host-labels.js';

// alt_port and name change nothing in the real server either.
/** Requests that may have something to say. */
const WITH_PAYLOAD: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'OPTIONS']);
const CHECK = supportedFields<HealthCheckMessage>('envoy.config.core.v3.HealthCheck', [
  'timeout',
  'interval',
  'initial_jitter',
  'interval_jitter',
  'interval_jitter_percent',
  'unhealthy_threshold',
  'healthy_threshold',
  'alt_port',
  'name',
  'reuse_connection',
  'http_health_check',
  'tcp_health_check',
  'grpc_health_check',
  'custom_health_check',
  'no_traffic_interval',
  'no_traffic_healthy_interval',
  'unhealthy_interval',
  'unhealthy_edge_interval',
  'healthy_edge_interval',
  'event_log_path',
  'event_logger',
  'always_log_health_check_failures',
  'always_log_health_check_success',
  // Nobody is told of events there, by the real server either.
  'event_service',
  'tls_options',
  'transport_socket_match_criteria',
]);
const HTTP = supportedFields<HttpCheck>('envoy.config.core.v3.HealthCheck.HttpHealthCheck', [
  'host',
  'path',
  'send',
  'receive',
  'request_headers_to_add',
  'request_headers_to_remove',
  'expected_statuses',
  'retriable_statuses',
  'codec_client_type',
  'service_name_matcher',
  'method',
  'response_buffer_size',
  'use_alpn_protocol',
]);
const TCP = supportedFields<TcpCheck>('envoy.config.core.v3.HealthCheck.TcpHealthCheck', [
  'send',
  'receive',
  'proxy_protocol_config',
]);
const GRPC = supportedFields<GrpcCheck>('envoy.config.core.v3.HealthCheck.GrpcHealthCheck', [
  'service_name',
  'authority',
  'initial_metadata',
]);
const TLS = supportedFields<TlsOptions>('envoy.config.core.v3.HealthCheck.TlsOptions', [
  'alpn_protocols',
]);
const FILE_SINK = 'envoy.extensions.health_check.event_sinks.file.v3.HealthCheckEventFileSink';

const DEFAULT_NO_TRAFFIC_MS = 60_000;
const DEFAULT_BODY_BYTES = 1024;
/** What the real server takes for a status: below 100 and above 599 there is none. */
const STATUSES = { first: 100, last: 600 };

/** What a cluster speaks with its hosts. */
export interface Spoken {
  readonly protocol: Protocol;
  readonly http2: Http2Options | undefined;
  /** All of its hosts are reached by TLS. */
  readonly isTls: boolean;
}

/** Undefined: nobody asks how its hosts are, or there was an error. */
export function compileHealthCheck(
  cluster: ClusterMessage,
  place: Place,
  spoken: Spoken,
): HealthCheck | undefined {
  const [message, ...others] = cluster.health_checks ?? [];
  const list = place.field('health_checks');
  if (!message) return undefined;
  if (others.length > 0) {
    list.index(1).error('Multiple health checks not supported', { expected: 'one of them' });
    return undefined;
  }
  const at = list.index(0);
  refuseOtherFields(at, message, CHECK);
  if (message.event_service) {
    at.field('event_service').warn('has no effect: the real server tells no service either');
  }
  const how = compileHow(message, at, cluster.name ?? '', spoken);
  return how && { ...compileTimes(message), ...how, ...compileReports(message, at) };
}

function compileTimes(message: HealthCheckMessage): HealthCheck {
  const intervalMs = wholeMs(message.interval, 0);
  const unhealthyMs = wholeMs(message.unhealthy_interval, intervalMs);
  const noTrafficMs = wholeMs(message.no_traffic_interval, DEFAULT_NO_TRAFFIC_MS);
  return {
    timeout_ms: wholeMs(message.timeout, 0),
    interval_ms: intervalMs,
    initial_jitter_ms: wholeMs(message.initial_jitter, 0),
    interval_jitter_ms: wholeMs(message.interval_jitter, 0),
    interval_jitter_percent: message.interval_jitter_percent,
    no_traffic_interval_ms: noTrafficMs,
    no_traffic_healthy_interval_ms: wholeMs(message.no_traffic_healthy_interval, noTrafficMs),
    unhealthy_interval_ms: unhealthyMs,
    unhealthy_edge_interval_ms: wholeMs(message.unhealthy_edge_interval, unhealthyMs),
    healthy_edge_interval_ms: wholeMs(message.healthy_edge_interval, intervalMs),
    unhealthy_threshold: message.unhealthy_threshold ?? 0,
    healthy_threshold: message.healthy_threshold ?? 0,
    reuses_connection: message.reuse_connection ?? true,
  };
}

function compileHow(
  message: HealthCheckMessage,
  at: Place,
  cluster: string,
  spoken: Spoken,
): HealthCheck | undefined {
  const { http_health_check: http, tcp_health_check: tcp, grpc_health_check: grpc } = message;
  if (http?.use_alpn_protocol && !spoken.isTls) {
    at.field('http_health_check')
      .field('use_alpn_protocol')
      .error(
        `use_alpn_protocol configured for the health check of cluster ${cluster} which has a non-ALPN transport socket`,
        { expected: 'a transport_socket that speaks TLS' },
      );
  }
  if (http) return compileHttp(http, at.field('http_health_check'), spoken);
  if (tcp) return compileTcp(tcp, at.field('tcp_health_check'));
  if (grpc) {
    if (spoken.protocol !== Protocol.HTTP2) {
      at.field('grpc_health_check').error(
        `${cluster} cluster must support HTTP/2 for gRPC healthchecking`,
        { expected: 'http2_protocol_options in its HttpProtocolOptions' },
      );
      return undefined;
    }
    return compileGrpc(grpc, at.field('grpc_health_check'), spoken);
  }
  const { name = '', typed_config: config } = message.custom_health_check ?? {};
  const type = config ? ` (${config.$type})` : '';
  at.field('custom_health_check').error(`'${name}'${type} is not supported yet as a health check`, {
    expected: 'http_health_check, tcp_health_check or grpc_health_check',
  });
  return undefined;
}

const METHODS_WITH_PAYLOAD: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'OPTIONS']);

function compileHttp(message: HttpCheck, at: Place, spoken: Spoken): HealthCheck {
  refuseOtherFields(at, message, HTTP);
  const codec = message.codec_client_type ?? 'HTTP1';
  if (codec === 'HTTP3') {
    at.field('codec_client_type').error('HTTP/3 is not supported yet', {
      expected: 'HTTP1 or HTTP2',
    });
  }
  const { method = 'METHOD_UNSPECIFIED' } = message;
  if (method === 'CONNECT') {
    at.field('method').error('a health check cannot be a CONNECT', { expected: 'GET, HEAD, …' });
  }
  if (message.send && !METHODS_WITH_PAYLOAD.has(method)) {
    const asked = method === 'METHOD_UNSPECIFIED' ? 'GET' : method;
    at.field('send').error(
      `HTTP health check cannot specify a request payload with method '${asked}'`,
      { expected: `a method of ${[...METHODS_WITH_PAYLOAD].join(', ')}` },
    );
  }
  const isHttp2 = codec === 'HTTP2';
  const name = message.service_name_matcher;
  const verb = method === 'METHOD_UNSPECIFIED' ? 'GET' : method;
  if (message.send && !WITH_PAYLOAD.has(verb)) {
    at.field('send').error(
      `HTTP health check cannot specify a request payload with method '${verb}'. Only methods that ` +
        'support a request body (POST, PUT, PATCH, OPTIONS) can be used with payload.',
    );
  }
  return {
    kind: Kind.HTTP,
    host: message.host,
    path: message.path,
    method: verb,
    is_http2: isHttp2,
    is_by_alpn: message.use_alpn_protocol,
    ...((isHttp2 || message.use_alpn_protocol) && { http2: http2Of(spoken, at) }),
    mutations: compileHeaderMutations(message, at),
    expected: compileStatuses(message.expected_statuses, at.field('expected_statuses'), 'expected'),
    retriable: compileStatuses(
      message.retriable_statuses,
      at.field('retriable_statuses'),
      'retriable',
    ),
    service_name: name && compileStringMatcher(name, at.field('service_name_matcher')),
    send: message.send && compilePayload(message.send, at.field('send')),
    receive: compileReceived(message.receive, at.field('receive')),
    body_bytes: message.response_buffer_size ?? DEFAULT_BODY_BYTES,
  };
}

function compileTcp(message: TcpCheck, at: Place): HealthCheck {
  refuseOtherFields(at, message, TCP);
  return {
    kind: Kind.TCP,
    send: message.send && compilePayload(message.send, at.field('send')),
    receive: compileReceived(message.receive, at.field('receive')),
    ...(message.proxy_protocol_config && {
      proxy_protocol: compileProxyProtocol(
        message.proxy_protocol_config,
        at.field('proxy_protocol_config'),
        undefined,
      ),
    }),
  };
}

function compileGrpc(message: GrpcCheck, at: Place, spoken: Spoken): HealthCheck {
  refuseOtherFields(at, message, GRPC);
  return {
    kind: Kind.GRPC,
    service: message.service_name,
    host: message.authority,
    http2: http2Of(spoken, at),
    mutations: compileHeaderMutations(
      { request_headers_to_add: message.initial_metadata ?? [] },
      at,
    ),
  };
}

function http2Of({ http2 }: Spoken, at: Place): Http2Options {
  return http2 ?? compileHttp2Options({}, at);
}

function compileStatuses(
  ranges: readonly StatusRangeMessage[] | undefined,
  at: Place,
  kind: string,
): StatusRange[] {
  return (ranges ?? []).flatMap(({ start = 0, end = 0 }, index) => {
    const place = at.index(index);
    const [from, to] = [Number(start), Number(end)];
    if (from >= to) {
      place.error(
        `Invalid http ${kind} status range: expecting start < end, but found start=${from} and end=${to}`,
      );
    } else if (from < STATUSES.first) {
      place.error(
        `Invalid http ${kind} status range: expecting start >= 100, but found start=${from}`,
      );
    } else if (to > STATUSES.last) {
      place.error(`Invalid http ${kind} status range: expecting end <= 600, but found end=${to}`);
    } else {
      return { from, to };
    }
    return [];
  });
}

function compileReceived(
  payloads: readonly Payload[] | undefined,
  at: Place,
): Uint8Array[] | undefined {
  return payloads?.flatMap((payload, index) => compilePayload(payload, at.index(index)) ?? []);
}

/** Undefined after an error. */
function compilePayload(payload: Payload, at: Place): Uint8Array | undefined {
  if (payload.binary) return payload.binary;
  const { text = '' } = payload;
  if (text.length % 2 === 0 && /^[0-9a-fA-F]*$/.test(text)) return Buffer.from(text, 'hex');
  at.field('text').error(`invalid hex string '${text}'`, {
    expected: 'two hexadecimal digits for each byte, or the bytes in `binary`',
  });
  return undefined;
}

function compileReports(message: HealthCheckMessage, at: Place): HealthCheck {
  const protocols = message.tls_options?.alpn_protocols ?? [];
  if (message.tls_options) refuseOtherFields(at.field('tls_options'), message.tls_options, TLS);
  const alpn = protocols.map((name) => Buffer.from(name, 'latin1'));
  return {
    logs_failures: message.always_log_health_check_failures,
    logs_successes: message.always_log_health_check_success,
    event_logs: compileEventLogs(message, at),
    alpn: Buffer.concat(alpn.flatMap((name) => [Buffer.from([name.length]), name])),
    socket_labels: wantedOf(message.transport_socket_match_criteria ?? {}),
  };
}

function compileEventLogs(message: HealthCheckMessage, at: Place): string[] {
  const paths: string[] = [];
  const add = (path: string, place: Place): void => {
    checkLogPath(path, place);
    if (path !== '') paths.push(path);
  };
  add(message.event_log_path ?? '', at.field('event_log_path'));
  (message.event_logger ?? []).forEach(({ name = '', typed_config: config }, index) => {
    const place = at.field('event_logger').index(index);
    if (config?.$type === FILE_SINK) {
      add(
        (config as FileSink).event_log_path ?? '',
        place.field('typed_config').field('event_log_path'),
      );
      return;
    }
    const type = config ? ` (${config.$type})` : '';
    place.error(`'${name}'${type} is not supported yet as a sink of health check events`, {
      expected: FILE_SINK,
    });
  });
  return paths;
}
