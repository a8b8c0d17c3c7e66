#include "filters/network/connection_rate.h"

#include <utility>

#include "filters/network/gates.h"

namespace fairlead::filters {

ConnectionRate::ConnectionRate(const plan::LocalRateLimitFilter& plan,
                               std::shared_ptr<TokenBucket> bucket, const stats::Scope& scope,
                               stats::Registry& registry, RuntimeSlots& slots)
    : enabled_(runtimeFlag(plan.enabled, slots)),
      bucket_(std::move(bucket)),
      stats_(registry.create<stats::LocalRateLimit>(scope)) {}

bool ConnectionRate::admits(unsigned worker, uint64_t now_us) const {
  if (enabled_.value() == 0 || bucket_->tryTake(now_us)) return true;
  stats_->shard(worker + 1)->add(stats::LocalRateLimit::Counter::RateLimited);
  return false;
}

}  // namespace fairlead::filters
