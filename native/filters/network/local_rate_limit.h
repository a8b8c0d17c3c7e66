// The network filter local_ratelimit: so many new connections of its chain in a time, on all
// workers together.
#pragma once

#include <memory>

#include "base/runtime_slots.h"
#include "base/token_bucket.h"
#include "net/connection_gate.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::filters {

class LocalRateLimit final : public net::ConnectionGate {
 public:
  // `bucket`: of those with the same share_key.
  LocalRateLimit(const plan::LocalRateLimitFilter& plan, std::shared_ptr<TokenBucket> bucket,
                 stats::Registry& registry, RuntimeSlots& slots);

  Verdict admit(unsigned worker, uint64_t now_us) override;

 private:
  const RuntimeNumber enabled_;
  const std::shared_ptr<TokenBucket> bucket_;
  const std::shared_ptr<stats::Block<stats::LocalRateLimit>> stats_;
};

}  // namespace fairlead::filters
