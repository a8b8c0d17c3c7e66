// envoy.extensions.upstreams.http.v3.HttpProtocolOptions
import type {
  envoy_extensions_upstreams_http_v3_HttpProtocolOptions as HttpProtocolOptions,
  envoy_extensions_upstreams_http_v3_HttpProtocolOptions_AutoHttpConfig as AutoConfig,
  envoy_extensions_upstreams_http_v3_HttpProtocolOptions_ExplicitHttpConfig as ExplicitConfig,
  envoy_extensions_upstreams_http_v3_HttpProtocolOptions_OutlierDetection as OutlierDetection,
  envoy_extensions_upstreams_http_v3_HttpProtocolOptions_UseDownstreamHttpConfig as DownstreamConfig,
} from '../../../build/messages.gen.js';
import { type CompileContext, defineExtension } from '../../plan/extension.js';
import type { UpstreamHttpOptions } from '../../plan/extension-plans.js';
import { compileMatch } from '../../plan/match/tap.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { Cluster_Protocol as Protocol, type RequestRules } from '../../plan/plan.gen.js';
import { compileHashPolicies } from '../../plan/route/hash-policies.js';
import { compileMirrors } from '../../plan/route/mirrors.js';
import { compileClusterRetries } from '../../plan/route/retry-policy.js';
import { compileUpstreamFilters } from '../http/upstream-filters.js';

const TYPE = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
const FIELDS = supportedFields<HttpProtocolOptions>(TYPE, [
  'common_http_protocol_options',
  'upstream_http_protocol_options',
  'explicit_http_config',
  'use_downstream_protocol_config',
  'auto_config',
  'http_filters',
  'outlier_detection',
  'request_mirror_policies',
  'hash_policy',
  'retry_policy',
]);
const OUTLIER = supportedFields<OutlierDetection>(`${TYPE}.OutlierDetection`, ['error_matcher']);
const EXPLICIT = supportedFields<ExplicitConfig>(`${TYPE}.ExplicitHttpConfig`, [
  'http_protocol_options',
  'http2_protocol_options',
]);
const OF_CLIENT = supportedFields<DownstreamConfig>(`${TYPE}.UseDownstreamHttpConfig`, [
  'http_protocol_options',
  'http2_protocol_options',
]);
const AUTO = supportedFields<AutoConfig>(`${TYPE}.AutoHttpConfig`, [
  'http_protocol_options',
  'http2_protocol_options',
]);

export const httpProtocolOptions = defineExtension<HttpProtocolOptions, UpstreamHttpOptions>({
  name: TYPE,
  type: TYPE,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const { protocol, options, at } = chosen(config, place);
    return {
      common: config.common_http_protocol_options,
      commonPlace: place.field('common_http_protocol_options'),
      protocol,
      http1: options.http_protocol_options,
      http1Place: at.field('http_protocol_options'),
      http2: options.http2_protocol_options,
      http2Place: at.field('http2_protocol_options'),
      sni: config.upstream_http_protocol_options,
      sniPlace: place.field('upstream_http_protocol_options'),
      rules: compileRules(config, place, context),
    };
  },
});

/** Undefined: requests are treated as their routes say. */
function compileRules(
  config: HttpProtocolOptions,
  place: Place,
  context: CompileContext,
): RequestRules | undefined {
  const outlier = config.outlier_detection;
  if (outlier) refuseOtherFields(place.field('outlier_detection'), outlier, OUTLIER);
  // As in the real server, they may name clusters that are not there.
  const scope = { context, validatesClusters: false };
  const rules: RequestRules = {
    http_filters: compileUpstreamFilters(
      config.http_filters,
      place.field('http_filters'),
      context,
      'upstream http',
    ),
    mirrors: compileMirrors(
      config.request_mirror_policies,
      place.field('request_mirror_policies'),
      scope,
    )
      ?.forRoute()
      .slice(),
    hash_policies: compileHashPolicies(config.hash_policy, place.field('hash_policy')),
    retry: compileClusterRetries(config, place, context),
    error_match:
      outlier?.error_matcher &&
      compileMatch(outlier.error_matcher, place.field('outlier_detection').field('error_matcher')),
  };
  const isEmpty = Object.values(rules).every(
    (rule) => rule === undefined || (Array.isArray(rule) && rule.length === 0),
  );
  return isEmpty ? undefined : rules;
}

interface Chosen {
  readonly protocol: Protocol;
  readonly options: ExplicitConfig;
  readonly at: Place;
}

/** Where several may be spoken, HTTP/2 is one of them, with or without options. */
function chosen(config: HttpProtocolOptions, place: Place): Chosen {
  const { auto_config: auto, use_downstream_protocol_config: ofClient } = config;
  if (auto) {
    const at = place.field('auto_config');
    refuseOtherFields(at, auto, AUTO);
    return { protocol: Protocol.BY_ALPN, options: withHttp2(auto), at };
  }
  if (ofClient) {
    const at = place.field('use_downstream_protocol_config');
    refuseOtherFields(at, ofClient, OF_CLIENT);
    return { protocol: Protocol.OF_CLIENT, options: withHttp2(ofClient), at };
  }
  const options = config.explicit_http_config ?? {};
  const at = place.field('explicit_http_config');
  refuseOtherFields(at, options, EXPLICIT);
  const protocol = options.http2_protocol_options ? Protocol.HTTP2 : Protocol.HTTP1;
  return { protocol, options, at };
}

function withHttp2(options: ExplicitConfig): ExplicitConfig {
  return { ...options, http2_protocol_options: options.http2_protocol_options ?? {} };
}
