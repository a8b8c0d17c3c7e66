// envoy.filters.http.local_ratelimit: so many requests in a time, of all workers together or of
// each client's connection, and of requests with certain descriptors. A route's settings take the
// place of the filter's, with buckets of their own.
#pragma once

#include <memory>

#include "base/result.h"
#include "base/runtime_slots.h"
#include "filters/http/http_filter.h"
#include "filters/http/local_buckets.h"
#include "filters/http/rate_limit_descriptors.h"
#include "plan/plan.gen.h"
#include "route/header_mutations.h"
#include "stats/registry.h"

namespace fairlead::filters {

class RatelimitSettings final : public route::FilterConfig {
 public:
  static Result<std::unique_ptr<const RatelimitSettings>> build(const plan::LocalRatelimit& plan,
                                                                const RouteScope& scope);
  static const RatelimitSettings* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const RatelimitSettings*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  // For buckets of connections, too.
  plan::LocalRatelimit plan;
  // In millionths.
  RuntimeNumber enabled;
  RuntimeNumber enforced;
  route::MutationList response_headers;
  route::MutationList request_headers;
  // In place of routes'; null: those.
  std::unique_ptr<const RateLimits> own_limits;
  std::shared_ptr<LocalBuckets> buckets;
  // Whose members share them; null: nobody's.
  NameIds::Ref shared_by;
  std::shared_ptr<stats::Block<stats::HttpLocalRateLimit>> stats;
  // Under which connections keep theirs.
  uint64_t number = 0;

 private:
  static constexpr char kKind = 0;
};

class LocalRatelimitConfig final : public HttpFilterConfig {
 public:
  static BuiltFilter build(const plan::LocalRatelimit& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

 private:
  std::unique_ptr<const RatelimitSettings> settings_;
};

}  // namespace fairlead::filters
