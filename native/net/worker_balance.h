// How many connections of a listener each worker has, where they are shared out evenly
// (connection_balance_config). Shared by all workers; any of their threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace fairlead::net {

class WorkerBalance {
 public:
  explicit WorkerBalance(unsigned workers) : counts_(workers) {}

  // The worker that has the fewest, the first of several; it has one more from here on.
  unsigned choose() {
    for (;;) {
      size_t best = 0;
      uint64_t fewest = UINT64_MAX;
      for (size_t i = 0; i < counts_.size(); ++i) {
        const uint64_t count = counts_[i].value.load(std::memory_order_relaxed);
        if (count >= fewest) continue;
        fewest = count;
        best = i;
      }
      // Two that choose at once do not choose the same.
      if (counts_[best].value.compare_exchange_strong(fewest, fewest + 1,
                                                      std::memory_order_relaxed)) {
        return static_cast<unsigned>(best);
      }
    }
  }
  void add(unsigned worker) { counts_[worker].value.fetch_add(1, std::memory_order_relaxed); }
  void remove(unsigned worker) { counts_[worker].value.fetch_sub(1, std::memory_order_relaxed); }

 private:
  struct alignas(64) Count {
    std::atomic<uint64_t> value = 0;
  };
  std::vector<Count> counts_;
};

}  // namespace fairlead::net
