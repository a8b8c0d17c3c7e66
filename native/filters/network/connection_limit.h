// The connection_limit filter: so many connections of its chain at once, on all workers together.
#pragma once

#include <atomic>
#include <memory>

#include "base/runtime_slots.h"
#include "net/connection_gate.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::filters {

class ConnectionLimit final : public net::ConnectionGate {
 public:
  ConnectionLimit(const plan::ConnectionLimitFilter& plan, stats::Registry& registry,
                  RuntimeSlots& slots);

  Verdict admit(unsigned worker, uint64_t now_us) override;
  void leave(unsigned worker) override;

 private:
  bool tryAdd();

  const plan::ConnectionLimitFilter plan_;
  const RuntimeNumber enabled_;
  const std::shared_ptr<stats::Block<stats::ConnectionLimit>> stats_;
  // Also those that passed while it was not enabled.
  std::atomic<uint64_t> open_{0};
};

}  // namespace fairlead::filters
