// The HTTP settings that clusters and connection managers share.
import type {
  envoy_config_core_v3_Http1ProtocolOptions as Http1Options,
  envoy_config_core_v3_HttpProtocolOptions as CommonHttpOptions,
  envoy_config_core_v3_UpstreamHttpProtocolOptions as SniOptions,
} from '../../../build/messages.gen.js';
import { wholeMs } from '../message/numbers.js';
import type { UpstreamHttpOptions } from '../extension-plans.js';
import type { Cluster } from '../plan.gen.js';
import { compileHeaderCase } from '../header-case.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';

export const DEFAULT_IDLE_TIMEOUT_MS = 3_600_000;
export const DEFAULT_MAX_HEADERS = 100;
const DEFAULT_MAX_RESPONSE_HEADERS_KB = 80;

// What a cluster says about underscores has no effect in the real server either.
const COMMON = supportedFields<CommonHttpOptions & { max_response_headers_kb?: number }>(
  'envoy.config.core.v3.HttpProtocolOptions',
  [
    'idle_timeout',
    'max_connection_duration',
    'max_headers_count',
    'max_response_headers_kb',
    'max_stream_duration',
    'max_requests_per_connection',
    'headers_with_underscores_action',
    'max_connection_duration_jitter',
  ],
);
// Most others are about requests that clients send: towards upstreams they have no effect.
const HTTP1 = supportedFields<Http1Options>('envoy.config.core.v3.Http1ProtocolOptions', [
  'allow_absolute_url',
  'accept_http_10',
  'default_host_for_http_10',
  'enable_trailers',
  'header_key_format',
  'allow_chunked_length',
  'send_fully_qualified_url',
  'override_stream_error_on_invalid_http_message',
  'use_balsa_parser',
  'allow_custom_methods',
  'ignore_http_11_upgrade',
]);

const SNI = supportedFields<SniOptions>('envoy.config.core.v3.UpstreamHttpProtocolOptions', [
  'auto_sni',
  'auto_san_validation',
  'override_auto_sni_header',
]);

export type UpstreamHttpPlan = Pick<
  Cluster,
  | 'idle_timeout_ms'
  | 'max_connection_duration_ms'
  | 'max_stream_duration_ms'
  | 'max_requests_per_connection'
  | 'max_headers_count'
  | 'max_response_headers_kb'
  | 'enable_trailers'
  | 'proper_case_words'
  | 'preserve_case'
  | 'auto_sni'
  | 'auto_san_validation'
  | 'sni_header'
  | 'max_connection_duration_jitter'
  | 'sends_whole_url'
  | 'allow_chunked_length'
>;

export function compileUpstreamHttp(options: UpstreamHttpOptions): UpstreamHttpPlan {
  const common: CommonHttpOptions & { max_response_headers_kb?: number } = options.common ?? {};
  refuseOtherFields(options.commonPlace, common, COMMON);
  const sni = options.sni ?? {};
  refuseOtherFields(options.sniPlace, sni, SNI);
  if (options.http1) refuseOtherFields(options.http1Place, options.http1, HTTP1);
  return {
    idle_timeout_ms: wholeMs(common.idle_timeout, DEFAULT_IDLE_TIMEOUT_MS),
    max_connection_duration_ms: wholeMs(common.max_connection_duration, 0),
    max_connection_duration_jitter: Math.round(
      (common.max_connection_duration_jitter?.value ?? 0) * 100,
    ),
    sends_whole_url: options.http1?.send_fully_qualified_url,
    allow_chunked_length: options.http1?.allow_chunked_length,
    max_stream_duration_ms: wholeMs(common.max_stream_duration, 0),
    max_requests_per_connection: common.max_requests_per_connection ?? 0,
    max_headers_count: common.max_headers_count ?? DEFAULT_MAX_HEADERS,
    max_response_headers_kb: common.max_response_headers_kb ?? DEFAULT_MAX_RESPONSE_HEADERS_KB,
    enable_trailers: options.http1?.enable_trailers,
    ...compileHeaderCase(
      options.http1?.header_key_format,
      options.http1Place.field('header_key_format'),
    ),
    auto_sni: sni.auto_sni,
    auto_san_validation: sni.auto_san_validation,
    sni_header: sni.override_auto_sni_header?.toLowerCase(),
  };
}
