#include "filters/listener/accept_limit.h"

#include "filters/network/gates.h"
#include "log/log.h"
#include "net/loop.h"
#include "stats/scopes.h"

namespace fairlead::filters {

namespace {

class AcceptLimit final : public net::ListenerFilter {
 public:
  AcceptLimit(const AcceptLimitConfig& config, unsigned worker)
      : config_(config), worker_(worker) {}

  Verdict look(net::EarlySocket& socket) override {
    const bool passes = config_.admits(worker_, socket.findings().accepted_at_us);
    return passes ? Verdict::Continue : Verdict::Refuse;
  }

 private:
  const AcceptLimitConfig& config_;
  const unsigned worker_;
};

}  // namespace

AcceptLimitConfig::AcceptLimitConfig(const plan::LocalRateLimitFilter& plan,
                                     stats::Registry& registry, RuntimeSlots& slots)
    : enabled_(runtimeFlag(plan.enabled, slots)),
      bucket_(std::make_shared<TokenBucket>(plan.max_tokens, plan.tokens_per_fill,
                                            plan.fill_interval_us, net::Loop::readClockMicros())),
      stats_(registry.create<stats::LocalRateLimit>(
          stats::plainScope("listener_local_ratelimit." + plan.stat_prefix + "."))) {}

std::unique_ptr<net::ListenerFilter> AcceptLimitConfig::make(unsigned worker) const {
  return std::make_unique<AcceptLimit>(*this, worker);
}

bool AcceptLimitConfig::admits(unsigned worker, uint64_t now_us) const {
  if (enabled_.value() == 0 || bucket_->tryTake(now_us)) return true;
  stats_->shard(worker + 1)->add(stats::LocalRateLimit::Counter::RateLimited);
  log::trace(log::Component::Filter, "listener_local_rate_limit: rate limiting socket");
  return false;
}

}  // namespace fairlead::filters
