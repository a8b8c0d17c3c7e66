#include "filters/http/http_filters.h"

#include "filters/http/buffer.h"
#include "filters/http/cors.h"
#include "filters/http/fault.h"
#include "filters/http/grpc_http1_bridge.h"
#include "filters/http/grpc_http1_reverse_bridge.h"
#include "filters/http/grpc_stats.h"
#include "filters/http/grpc_web.h"
#include "filters/http/health_check.h"
#include "filters/http/tap.h"

namespace fairlead::filters {

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
  return Error{"an HTTP filter of a kind that is not known here"};
}

Result<std::unique_ptr<const route::FilterConfig>> buildFilterConfig(const plan::FilterConfig& plan,
                                                                     RuntimeSlots& slots) {
  if (plan.cors) return CorsPolicy::build(*plan.cors, slots);
  if (plan.buffer) {
    return std::unique_ptr<const route::FilterConfig>(new BufferSettings(*plan.buffer));
  }
  if (plan.fault) return FaultSettings::build(*plan.fault, slots);
  if (plan.grpc_http1_reverse_bridge) {
    return std::unique_ptr<const route::FilterConfig>(
        new GrpcReverseBridgeSettings(*plan.grpc_http1_reverse_bridge));
  }
  return Error{"a filter's configuration of a kind that is not known here"};
}

}  // namespace fairlead::filters
