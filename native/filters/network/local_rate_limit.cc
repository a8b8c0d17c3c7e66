#include "filters/network/local_rate_limit.h"

#include <utility>

#include "filters/network/gates.h"
#include "log/log.h"
#include "stats/scopes.h"

namespace fairlead::filters {

LocalRateLimit::LocalRateLimit(const plan::LocalRateLimitFilter& plan,
                               std::shared_ptr<TokenBucket> bucket, stats::Registry& registry,
                               RuntimeSlots& slots)
    : enabled_(runtimeFlag(plan.enabled, slots)),
      bucket_(std::move(bucket)),
      stats_(registry.create<stats::LocalRateLimit>(
          stats::plainScope("local_rate_limit." + plan.stat_prefix + "."))) {}

net::ConnectionGate::Verdict LocalRateLimit::admit(unsigned worker, uint64_t now_us) {
  if (enabled_.value() == 0 || bucket_->tryTake(now_us)) return {};
  stats_->shard(worker + 1)->add(stats::LocalRateLimit::Counter::RateLimited);
  log::trace(log::Component::Filter, "local_rate_limit: rate limiting connection");
  return {.passes = false, .is_rate_limited = true, .reason = "local_ratelimit_close_over_limit"};
}

}  // namespace fairlead::filters
