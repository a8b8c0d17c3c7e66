// The weight that a host has by what it reports of its load, in clusters that go by it. Workers
// write what it reports, the control thread what follows from all hosts' reports.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "plan/plan.gen.h"
#include "upstream/load_report.h"

namespace fairlead::upstream {

// What a report makes of a host's weight; absent: it says too little.
std::optional<uint32_t> weightOf(const LoadReport& report, const plan::LoadWeights& rules);

class HostLoad {
 public:
  // Any thread. Times are hostClockMs().
  void put(uint32_t weight, uint64_t now_ms);

  // Control thread: of a host that has reported long enough, and lately. Otherwise it begins anew.
  std::optional<uint32_t> reported(const plan::LoadWeights& rules, uint64_t now_ms);

  // Any thread: 0: as it is assigned.
  uint32_t weight() const { return weight_.load(std::memory_order_relaxed); }
  // Control thread. False: it was the same.
  bool setWeight(uint32_t weight) {
    return weight_.exchange(weight, std::memory_order_relaxed) != weight;
  }

 private:
  static constexpr uint64_t kNever = UINT64_MAX;

  std::atomic<uint32_t> reported_{1};
  std::atomic<uint64_t> since_ms_{kNever};
  std::atomic<uint64_t> latest_ms_{0};
  std::atomic<uint32_t> weight_{0};
};

}  // namespace fairlead::upstream
