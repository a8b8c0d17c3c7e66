// How many clients are connected, to all listeners and the admin server together, and how many may
// be. Any thread; the limit is set before there are any.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/runtime_slots.h"

namespace fairlead::net {

class AllConnections {
 public:
  void setLimit(const RuntimeNumber& limit) { limit_ = limit; }

  bool areTooMany() const { return open_.load(std::memory_order_relaxed) >= limit_.value(); }
  void add() { open_.fetch_add(1, std::memory_order_relaxed); }
  void remove() { open_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> open_{0};
  RuntimeNumber limit_{UINT64_MAX, 0, nullptr};
};

}  // namespace fairlead::net
