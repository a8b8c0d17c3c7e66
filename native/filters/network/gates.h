// All gates that there are: makes those of a filter chain's plan. The control thread's.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/runtime_slots.h"
#include "base/token_bucket.h"
#include "net/connection_gate.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::filters {

// What turns a filter off; absent: it is on.
inline RuntimeNumber runtimeFlag(const Boxed<plan::RuntimeNumber>& plan, RuntimeSlots& slots) {
  return plan ? RuntimeNumber(plan->value, plan->slot, &slots) : RuntimeNumber(1, 0, nullptr);
}

class Gates {
 public:
  // Null: the chain has none.
  Result<std::shared_ptr<const net::ConnectionGates>> build(
      const std::vector<plan::ConnectionGate>& plans, stats::Registry& registry,
      RuntimeSlots& slots);

 private:
  std::shared_ptr<TokenBucket> bucketOf(const plan::LocalRateLimitFilter& plan);

  // By what filters share them, while one of those is there.
  std::map<std::string, std::weak_ptr<TokenBucket>> shared_;
};

}  // namespace fairlead::filters
