// envoy.filters.listener.local_ratelimit: so many new connections of a listener in a time, on all
// workers together; the others are closed before anything is read of them.
#pragma once

#include "filters/network/connection_rate.h"
#include "net/listener_filter.h"

namespace fairlead::filters {

class AcceptLimitConfig final : public net::ListenerFilterConfig {
 public:
  // `plan` must have tokens that come, in some time.
  AcceptLimitConfig(const plan::LocalRateLimitFilter& plan, stats::Registry& registry,
                    RuntimeSlots& slots);

  std::unique_ptr<net::ListenerFilter> make(unsigned worker) const override;

 private:
  const ConnectionRate rate_;
};

}  // namespace fairlead::filters
