// How many clients are connected, to all listeners and the admin server together, and how many may
// be. Any thread; the limit is set before there are any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/runtime_slots.h"
#include "stats/registry.h"

namespace fairlead::net {

class AllConnections {
 public:
  void setLimit(const RuntimeNumber& limit) { limit_ = limit; }
  // The limit is a resource monitor's, where it is counted that a connection was refused. As the
  // real server has it, it is not for the admin server, nor for listeners that ignore it: theirs
  // are not counted. Before there are any.
  void countRefusalsIn(std::shared_ptr<stats::Block<stats::OverloadConnectionMonitor>> block) {
    refusals_ = std::move(block);
  }
  bool countsExempt() const { return !refusals_; }
  // `thread`: whose shard is written: 0 is the control thread's.
  void countRefusal(unsigned thread) const {
    using Counter = stats::OverloadConnectionMonitor::Counter;
    if (refusals_) refusals_->shard(thread)->add(Counter::FailedUpdates);
  }

  bool areTooMany() const { return open_.load(std::memory_order_relaxed) >= limit_.value(); }
  void add() { open_.fetch_add(1, std::memory_order_relaxed); }
  void remove() { open_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> open_{0};
  RuntimeNumber limit_{UINT64_MAX, 0, nullptr};
  // Null: nobody counts them.
  std::shared_ptr<stats::Block<stats::OverloadConnectionMonitor>> refusals_;
};

}  // namespace fairlead::net
