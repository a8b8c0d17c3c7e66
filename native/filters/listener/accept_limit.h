// envoy.filters.listener.local_ratelimit: so many new connections of a listener in a time, on all
// workers together; the others are closed before anything is read of them.
#pragma once

#include "base/runtime_slots.h"
#include "base/token_bucket.h"
#include "net/listener_filter.h"
#include "stats/registry.h"

namespace fairlead::filters {

class AcceptLimitConfig final : public net::ListenerFilterConfig {
 public:
  // `plan` must have tokens that come, in some time.
  AcceptLimitConfig(const plan::LocalRateLimitFilter& plan, stats::Registry& registry,
                    RuntimeSlots& slots);

  std::unique_ptr<net::ListenerFilter> make(unsigned worker) const override;
  // Any worker's thread. False: there is no token for it, which is counted.
  bool admits(unsigned worker, uint64_t now_us) const;

 private:
  const RuntimeNumber enabled_;
  const std::shared_ptr<TokenBucket> bucket_;
  const std::shared_ptr<stats::Block<stats::LocalRateLimit>> stats_;
};

}  // namespace fairlead::filters
