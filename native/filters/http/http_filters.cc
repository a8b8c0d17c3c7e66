#include "filters/http/http_filters.h"

#include "filters/http/adaptive_concurrency.h"
#include "filters/http/admission_control.h"
#include "filters/http/api_key_auth.h"
#include "filters/http/aws_request_signing.h"
#include "filters/http/bandwidth_limit.h"
#include "filters/http/basic_auth.h"
#include "filters/http/body_size_limit.h"
#include "filters/http/buffer.h"
#include "filters/http/cache.h"
#include "filters/http/cdn_loop.h"
#include "filters/http/compressor.h"
#include "filters/http/connect_grpc_bridge.h"
#include "filters/http/cors.h"
#include "filters/http/credential_injector.h"
#include "filters/http/csrf.h"
#include "filters/http/custom_response.h"
#include "filters/http/decompressor.h"
#include "filters/http/discovered.h"
#include "filters/http/dynamic_forward_proxy.h"
#include "filters/http/ext_authz.h"
#include "filters/http/ext_proc.h"
#include "filters/http/fault.h"
#include "filters/http/grpc_http1_bridge.h"
#include "filters/http/grpc_http1_reverse_bridge.h"
#include "filters/http/grpc_json_transcoder.h"
#include "filters/http/grpc_stats.h"
#include "filters/http/grpc_web.h"
#include "filters/http/header_mutation.h"
#include "filters/http/header_to_metadata.h"
#include "filters/http/health_check.h"
#include "filters/http/ip_tagging.h"
#include "filters/http/json_to_metadata.h"
#include "filters/http/jwt_authn.h"
#include "filters/http/local_ratelimit.h"
#include "filters/http/matched.h"
#include "filters/http/oauth2.h"
#include "filters/http/on_demand.h"
#include "filters/http/original_src.h"
#include "filters/http/rate_limit_descriptors.h"
#include "filters/http/ratelimit.h"
#include "filters/http/rbac.h"
#include "filters/http/set_filter_state.h"
#include "filters/http/set_metadata.h"
#include "filters/http/stateful_session.h"
#include "filters/http/tap.h"
#include "stats/scopes.h"

namespace fairlead::filters {

namespace {

template <typename Config>
Result<std::unique_ptr<const route::FilterConfig>> asFilterConfig(
    Result<std::unique_ptr<const Config>> built) {
  if (!built) return built.error();
  return std::unique_ptr<const route::FilterConfig>(std::move(built.value()));
}

BuiltFilter buildPlainFilter(const plan::HttpFilter& plan, const ConfigScope& scope) {
  if (plan.health_check) return HealthCheckConfig::build(*plan.health_check, scope);
  if (plan.tap) return TapConfig::build(*plan.tap, scope);
  if (plan.cors) return CorsConfig::build(scope);
  if (plan.buffer) {
    return std::shared_ptr<const HttpFilterConfig>(std::make_shared<BufferConfig>(*plan.buffer));
  }
  if (plan.fault) return FaultConfig::build(plan.name, *plan.fault, scope);
  if (plan.grpc_web) return GrpcWebConfig::build(scope);
  if (plan.grpc_stats) return GrpcStatsConfig::build(*plan.grpc_stats, scope);
  if (plan.grpc_http1_bridge) {
    return std::shared_ptr<const HttpFilterConfig>(
        std::make_shared<GrpcHttp1BridgeConfig>(*plan.grpc_http1_bridge));
  }
  if (plan.grpc_http1_reverse_bridge) {
    return std::shared_ptr<const HttpFilterConfig>(
        std::make_shared<GrpcReverseBridgeConfig>(*plan.grpc_http1_reverse_bridge));
  }
  if (plan.grpc_json_transcoder) {
    return GrpcJsonTranscoderConfig::build(*plan.grpc_json_transcoder, scope);
  }
  if (plan.connect_grpc_bridge) {
    return std::shared_ptr<const HttpFilterConfig>(std::make_shared<ConnectGrpcBridgeConfig>());
  }
  if (plan.local_ratelimit) return LocalRatelimitConfig::build(*plan.local_ratelimit, scope);
  if (plan.csrf) return CsrfConfig::build(*plan.csrf, scope);
  if (plan.basic_auth) {
    return std::shared_ptr<const HttpFilterConfig>(
        std::make_shared<BasicAuthConfig>(*plan.basic_auth, scope));
  }
  if (plan.header_mutation) return HeaderMutationConfig::build(*plan.header_mutation);
  if (plan.rbac) return RbacConfig::build(*plan.rbac, scope);
  if (plan.dynamic_forward_proxy) {
    return DynamicForwardProxyConfig::build(*plan.dynamic_forward_proxy, scope);
  }
  if (plan.discovered) return DiscoveredConfig::build(*plan.discovered, scope);
  if (plan.on_demand) return OnDemandConfig::build(*plan.on_demand, scope);
  if (plan.ext_authz) return ExtAuthzConfig::build(plan.name, *plan.ext_authz, scope);
  if (plan.ratelimit) return RatelimitConfig::build(*plan.ratelimit, scope);
  if (plan.ext_proc) return ExtProcConfig::build(plan.name, *plan.ext_proc, scope);
  if (plan.compressor) return CompressorConfig::build(*plan.compressor, scope);
  if (plan.decompressor) return DecompressorConfig::build(*plan.decompressor, scope);
  if (plan.bandwidth_limit) return BandwidthLimitConfig::build(*plan.bandwidth_limit, scope);
  if (plan.cache) return CacheConfig::build(*plan.cache, scope);
  if (plan.custom_response) return CustomResponseConfig::build(*plan.custom_response, scope);
  if (plan.admission_control) return AdmissionControlConfig::build(*plan.admission_control, scope);
  if (plan.adaptive_concurrency) {
    return AdaptiveConcurrencyConfig::build(*plan.adaptive_concurrency, scope);
  }
  if (plan.jwt_authn) return JwtAuthnConfig::build(*plan.jwt_authn, scope);
  if (plan.oauth2) return OAuth2Config::build(*plan.oauth2, scope);
  if (plan.api_key_auth) {
    return std::shared_ptr<const HttpFilterConfig>(
        std::make_shared<ApiKeyAuthConfig>(*plan.api_key_auth, scope));
  }
  if (plan.credential_injector) {
    return std::shared_ptr<const HttpFilterConfig>(
        std::make_shared<CredentialInjectorConfig>(*plan.credential_injector, scope));
  }
  if (plan.header_to_metadata) {
    return HeaderToMetadataConfig::build(*plan.header_to_metadata, scope);
  }
  if (plan.ip_tagging) {
    return std::shared_ptr<const HttpFilterConfig>(
        std::make_shared<IpTaggingConfig>(*plan.ip_tagging, scope));
  }
  if (plan.json_to_metadata) return JsonToMetadataConfig::build(*plan.json_to_metadata, scope);
  if (plan.cdn_loop) {
    return std::shared_ptr<const HttpFilterConfig>(std::make_shared<CdnLoopConfig>(*plan.cdn_loop));
  }
  if (plan.body_size_limit) {
    return std::shared_ptr<const HttpFilterConfig>(
        std::make_shared<BodySizeLimitConfig>(*plan.body_size_limit));
  }
  if (plan.original_src) {
    return std::shared_ptr<const HttpFilterConfig>(
        std::make_shared<OriginalSrcFilterConfig>(*plan.original_src));
  }
  if (plan.set_filter_state) {
    return std::shared_ptr<const HttpFilterConfig>(
        std::make_shared<SetFilterStateConfig>(*plan.set_filter_state));
  }
  if (plan.set_metadata) {
    return std::shared_ptr<const HttpFilterConfig>(
        std::make_shared<SetMetadataConfig>(*plan.set_metadata, scope));
  }
  if (plan.stateful_session) {
    return std::shared_ptr<const HttpFilterConfig>(
        std::make_shared<StatefulSessionConfig>(*plan.stateful_session, scope));
  }
  if (plan.aws_request_signing) {
    return AwsRequestSigningConfig::build(*plan.aws_request_signing, scope);
  }
  return Error{"an HTTP filter of a kind that is not known here"};
}

}  // namespace

BuiltFilter buildHttpFilter(const plan::HttpFilter& plan, const ConfigScope& scope) {
  if (plan.composite) return MatchedConfig::build(plan, nullptr, scope);
  BuiltFilter filter = buildPlainFilter(plan, scope);
  if (!filter || !plan.match) return filter;
  return MatchedConfig::build(plan, std::move(filter.value()), scope);
}

Result<std::unique_ptr<const route::FilterConfig>> buildFilterConfig(const plan::FilterConfig& plan,
                                                                     const RouteScope& scope) {
  if (plan.cors) return CorsPolicy::build(*plan.cors, scope.slots);
  if (plan.buffer) {
    return std::unique_ptr<const route::FilterConfig>(new BufferSettings(*plan.buffer));
  }
  if (plan.fault) return FaultSettings::build(*plan.fault, scope.slots);
  if (plan.grpc_http1_reverse_bridge) {
    return std::unique_ptr<const route::FilterConfig>(
        new GrpcReverseBridgeSettings(*plan.grpc_http1_reverse_bridge));
  }
  if (plan.grpc_json_transcoder) return TranscoderSettings::build(*plan.grpc_json_transcoder);
  if (plan.local_ratelimit)
    return asFilterConfig(RatelimitSettings::build(*plan.local_ratelimit, scope));
  if (plan.rate_limits) return asFilterConfig(RateLimits::build(*plan.rate_limits, scope.slots));
  if (plan.csrf) return asFilterConfig(CsrfPolicy::build(*plan.csrf, scope.slots));
  if (plan.basic_auth) {
    return std::unique_ptr<const route::FilterConfig>(new BasicAuthUsers(*plan.basic_auth));
  }
  if (plan.header_mutation) return asFilterConfig(HeaderMutations::build(*plan.header_mutation));
  if (plan.rbac) return asFilterConfig(RbacSettings::build(*plan.rbac));
  if (plan.name_rewrite) {
    return std::unique_ptr<const route::FilterConfig>(new NameRewrite(*plan.name_rewrite));
  }
  if (plan.match) {
    if (!scope.chain_scope) return Error{"no route may have a tree of filters here"};
    return asFilterConfig(
        MatchSettings::build(*plan.match, (*scope.chain_scope)(plan.match->stat_prefix)));
  }
  if (plan.on_demand) {
    return std::unique_ptr<const route::FilterConfig>(new OnDemandSettings(*plan.on_demand));
  }
  if (plan.ratelimit) return asFilterConfig(RatelimitRoute::build(*plan.ratelimit, scope.slots));
  if (plan.ext_authz) {
    return asFilterConfig(ExtAuthzRoute::build(*plan.ext_authz, scope.clusters, scope.registry));
  }
  if (plan.ext_proc) {
    return asFilterConfig(ExtProcRoute::build(*plan.ext_proc, scope.clusters, scope.registry));
  }
  if (plan.compressor) return asFilterConfig(CompressorSettings::build(*plan.compressor, scope));
  if (plan.custom_response) {
    return asFilterConfig(
        CustomResponses::build(*plan.custom_response, scope.registry, stats::plainScope("")));
  }
  if (plan.bandwidth_limit) {
    return std::unique_ptr<const route::FilterConfig>(
        BandwidthSettings::build(*plan.bandwidth_limit, scope));
  }
  if (plan.jwt_authn) {
    return std::unique_ptr<const route::FilterConfig>(new JwtRoute(*plan.jwt_authn));
  }
  if (plan.api_key_auth) {
    return std::unique_ptr<const route::FilterConfig>(new ApiKeySettings(*plan.api_key_auth));
  }
  if (plan.header_to_metadata) {
    return asFilterConfig(HeaderToMetadataRules::build(*plan.header_to_metadata, scope.registry));
  }
  if (plan.json_to_metadata) return asFilterConfig(JsonRules::build(*plan.json_to_metadata));
  if (plan.set_metadata) {
    return std::unique_ptr<const route::FilterConfig>(new MetadataEntries(*plan.set_metadata));
  }
  if (plan.set_filter_state) {
    return std::unique_ptr<const route::FilterConfig>(
        new FilterStateValues(*plan.set_filter_state));
  }
  if (plan.stateful_session) {
    return std::unique_ptr<const route::FilterConfig>(new SessionSettings(*plan.stateful_session));
  }
  if (plan.oauth2) {
    return asFilterConfig(OAuth2Settings::build(*plan.oauth2, scope, stats::plainScope({})));
  }
  if (plan.aws_request_signing) {
    return asFilterConfig(
        AwsSettings::build(*plan.aws_request_signing, scope,
                           stats::plainScope(plan.aws_request_signing->stat_prefix)));
  }
  return Error{"a filter's configuration of a kind that is not known here"};
}

}  // namespace fairlead::filters
