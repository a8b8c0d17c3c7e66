// The network filter local_ratelimit: so many new connections of its chain in a time, on all
// workers together.
#pragma once

#include <memory>

#include "filters/network/connection_rate.h"
#include "net/connection_gate.h"

namespace fairlead::filters {

class LocalRateLimit final : public net::ConnectionGate {
 public:
  // `bucket`: of those with the same share_key.
  LocalRateLimit(const plan::LocalRateLimitFilter& plan, std::shared_ptr<TokenBucket> bucket,
                 stats::Registry& registry, RuntimeSlots& slots);

  Verdict admit(unsigned worker, uint64_t now_us) override;

 private:
  const ConnectionRate rate_;
};

}  // namespace fairlead::filters
