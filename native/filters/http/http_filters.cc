#include "filters/http/http_filters.h"

#include "filters/http/basic_auth.h"
#include "filters/http/buffer.h"
#include "filters/http/connect_grpc_bridge.h"
#include "filters/http/cors.h"
#include "filters/http/csrf.h"
#include "filters/http/fault.h"
#include "filters/http/grpc_http1_bridge.h"
#include "filters/http/grpc_http1_reverse_bridge.h"
#include "filters/http/grpc_json_transcoder.h"
#include "filters/http/grpc_stats.h"
#include "filters/http/grpc_web.h"
#include "filters/http/header_mutation.h"
#include "filters/http/health_check.h"
#include "filters/http/local_ratelimit.h"
#include "filters/http/rate_limit_descriptors.h"
#include "filters/http/rbac.h"
#include "filters/http/tap.h"

namespace fairlead::filters {

namespace {

template <typename Config>
Result<std::unique_ptr<const route::FilterConfig>> asFilterConfig(
    Result<std::unique_ptr<const Config>> built) {
  if (!built) return built.error();
  return std::unique_ptr<const route::FilterConfig>(std::move(built.value()));
}

}  // namespace

BuiltFilter buildHttpFilter(const plan::HttpFilter& plan, const ConfigScope& scope) {
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
  return Error{"an HTTP filter of a kind that is not known here"};
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
  if (plan.rate_limits) return asFilterConfig(RateLimits::build(*plan.rate_limits));
  if (plan.csrf) return asFilterConfig(CsrfPolicy::build(*plan.csrf, scope.slots));
  if (plan.basic_auth) {
    return std::unique_ptr<const route::FilterConfig>(new BasicAuthUsers(*plan.basic_auth));
  }
  if (plan.header_mutation) return asFilterConfig(HeaderMutations::build(*plan.header_mutation));
  if (plan.rbac) return asFilterConfig(RbacSettings::build(*plan.rbac));
  return Error{"a filter's configuration of a kind that is not known here"};
}

}  // namespace fairlead::filters
