#include "filters/listener/accept_limit.h"

#include "log/log.h"
#include "net/loop.h"
#include "stats/filter_scopes.h"

namespace fairlead::filters {

namespace {

class AcceptLimit final : public net::ListenerFilter {
 public:
  AcceptLimit(const ConnectionRate& rate, unsigned worker) : rate_(rate), worker_(worker) {}

  Verdict look(net::EarlySocket& socket) override {
    if (rate_.admits(worker_, socket.findings().accepted_at_us)) return Verdict::Continue;
    log::trace(log::Component::Filter, "listener_local_rate_limit: rate limiting socket");
    return Verdict::Refuse;
  }

 private:
  const ConnectionRate& rate_;
  const unsigned worker_;
};

}  // namespace

AcceptLimitConfig::AcceptLimitConfig(const plan::LocalRateLimitFilter& plan,
                                     stats::Registry& registry, RuntimeSlots& slots)
    : rate_(plan,
            std::make_shared<TokenBucket>(plan.max_tokens, plan.tokens_per_fill,
                                          plan.fill_interval_us, net::Loop::readClockMicros()),
            stats::listenerLocalRateLimitScope(plan.stat_prefix), registry, slots) {}

std::unique_ptr<net::ListenerFilter> AcceptLimitConfig::make(unsigned worker) const {
  return std::make_unique<AcceptLimit>(rate_, worker);
}

}  // namespace fairlead::filters
