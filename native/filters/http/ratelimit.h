// envoy.filters.http.ratelimit: a service counts requests by descriptors, which routes, virtual
// hosts or the filter itself make of them, and says whether there may be more.
#pragma once

#include <memory>

#include "base/result.h"
#include "calls/service.h"
#include "filters/http/http_filter.h"
#include "filters/http/late_counts.h"
#include "filters/http/rate_limit_descriptors.h"
#include "plan/plan.gen.h"
#include "route/header_mutations.h"

namespace fairlead::filters {

// What a route says of it beside its limits.
class RatelimitRoute final : public route::FilterConfig {
 public:
  static Result<std::unique_ptr<const RatelimitRoute>> build(const plan::RatelimitRoute& plan,
                                                             RuntimeSlots& slots);
  static const RatelimitRoute* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const RatelimitRoute*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  plan::RatelimitRoute plan;
  // In place of all others; null: those.
  std::unique_ptr<const RateLimits> limits;

 private:
  static constexpr char kKind = 0;
};

class RatelimitConfig final : public HttpFilterConfig {
 public:
  static BuiltFilter build(const plan::Ratelimit& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  plan::Ratelimit plan;
  // Calls that nobody waits for hold it, too.
  std::shared_ptr<const calls::Service> service;
  // In millionths.
  RuntimeNumber enabled;
  RuntimeNumber enforced;
  RuntimeNumber failure_deny;
  route::MutationList response_headers;
  // In place of routes'; null: those.
  std::unique_ptr<const RateLimits> own_limits;
  std::shared_ptr<ClusterCounts<stats::ClusterRatelimit>> counts;
};

}  // namespace fairlead::filters
