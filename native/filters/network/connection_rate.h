// So many new connections in a time, on all workers together: what the local_ratelimit of a
// listener and that of a filter chain have in common.
#pragma once

#include <cstdint>
#include <memory>

#include "base/runtime_slots.h"
#include "base/token_bucket.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::filters {

class ConnectionRate {
 public:
  // `bucket`: others may share it. `scope`: of its statistics.
  ConnectionRate(const plan::LocalRateLimitFilter& plan, std::shared_ptr<TokenBucket> bucket,
                 const stats::Scope& scope, stats::Registry& registry, RuntimeSlots& slots);

  // Any worker's thread. False: there is no token for it, which is counted.
  bool admits(unsigned worker, uint64_t now_us) const;

 private:
  const RuntimeNumber enabled_;
  const std::shared_ptr<TokenBucket> bucket_;
  const std::shared_ptr<stats::Block<stats::LocalRateLimit>> stats_;
};

}  // namespace fairlead::filters
