#include "filters/network/local_rate_limit.h"

#include <utility>

#include "log/log.h"
#include "stats/filter_scopes.h"

namespace fairlead::filters {

LocalRateLimit::LocalRateLimit(const plan::LocalRateLimitFilter& plan,
                               std::shared_ptr<TokenBucket> bucket, stats::Registry& registry,
                               RuntimeSlots& slots)
    : rate_(plan, std::move(bucket), stats::networkLocalRateLimitScope(plan.stat_prefix), registry,
            slots) {}

net::ConnectionGate::Verdict LocalRateLimit::admit(unsigned worker, uint64_t now_us) {
  if (rate_.admits(worker, now_us)) return {};
  log::trace(log::Component::Filter, "local_rate_limit: rate limiting connection");
  return {.passes = false, .is_rate_limited = true, .reason = "local_ratelimit_close_over_limit"};
}

}  // namespace fairlead::filters
