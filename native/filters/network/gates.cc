#include "filters/network/gates.h"

#include <utility>

#include "filters/network/connection_limit.h"
#include "filters/network/local_rate_limit.h"
#include "net/loop.h"

namespace fairlead::filters {

Result<std::shared_ptr<const net::ConnectionGates>> Gates::build(
    const std::vector<plan::ConnectionGate>& plans, stats::Registry& registry,
    RuntimeSlots& slots) {
  if (plans.empty()) return std::shared_ptr<const net::ConnectionGates>();
  auto gates = std::make_shared<net::ConnectionGates>();
  for (const plan::ConnectionGate& plan : plans) {
    if (plan.connection_limit) {
      gates->push_back(std::make_shared<ConnectionLimit>(*plan.connection_limit, registry, slots));
    } else if (const auto& limit = plan.local_rate_limit) {
      if (limit->tokens_per_fill == 0 || limit->fill_interval_us == 0) {
        return Error{"a bucket of tokens that is never filled"};
      }
      gates->push_back(std::make_shared<LocalRateLimit>(*limit, bucketOf(*limit), registry, slots));
    }
  }
  return std::shared_ptr<const net::ConnectionGates>(std::move(gates));
}

std::shared_ptr<TokenBucket> Gates::bucketOf(const plan::LocalRateLimitFilter& plan) {
  const auto make = [&plan] {
    return std::make_shared<TokenBucket>(plan.max_tokens, plan.tokens_per_fill,
                                         plan.fill_interval_us, net::Loop::readClockMicros());
  };
  if (plan.share_key.empty()) return make();
  std::erase_if(shared_, [](const auto& entry) { return entry.second.expired(); });
  const std::string key = plan.share_key + ' ' + std::to_string(plan.max_tokens) + ' ' +
                          std::to_string(plan.tokens_per_fill) + ' ' +
                          std::to_string(plan.fill_interval_us);
  std::shared_ptr<TokenBucket> bucket = shared_[key].lock();
  if (!bucket) shared_[key] = bucket = make();
  return bucket;
}

}  // namespace fairlead::filters
