// What a host has reported of its load, in clusters that want to know: the weight that it has by
// it, how busy it is, and what load reporting services are told. Whoever hears a report writes, the
// control thread reads what follows from all hosts' reports.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "plan/plan.gen.h"
#include "upstream/load_report.h"

namespace fairlead::upstream {

// What a report makes of a host's weight; absent: it says too little.
std::optional<uint32_t> weightOf(const LoadReport& report, const plan::LoadWeights& rules);
// How busy the host is by a report, with the highest of these metrics before what it says of itself
// as a whole; 0: it does not say.
double utilizationOf(const LoadReport& report, const std::vector<std::string>& metrics);

class HostLoad {
 public:
  // What a cluster wants to know of reports.
  struct Uses {
    bool weights = false;
    bool localities = false;
    bool metrics = false;

    static Uses of(const plan::Cluster& cluster) {
      return {cluster.load_weights.has_value(), cluster.locality_loads.has_value(),
              !cluster.reported_metrics.empty()};
    }
    bool any() const { return weights || localities || metrics; }
    bool operator==(const Uses&) const = default;
  };
  // Of all reports of one name since they were last taken.
  struct Sum {
    uint64_t reports = 0;
    double total = 0;
  };
  using Sums = std::map<std::string, Sum, std::less<>>;

  // `threads`: that may record().
  HostLoad(Uses uses, unsigned threads)
      : uses_(uses), threads_(threads), records_(uses.metrics ? new Record[threads] : nullptr) {}

  Uses uses() const { return uses_; }
  // Any thread. Times are hostClockMs(). False: the report says too little for a weight.
  bool take(const LoadReport& report, const plan::Cluster& cluster, uint64_t now_ms);
  // That thread, where metrics are wanted: for load reporting services.
  void record(unsigned thread, const LoadReport& report, const std::vector<std::string>& names);
  // Control thread: all that was recorded since the last time.
  Sums takeRecords();

  // The weight alone. Any thread.
  void put(uint32_t weight, uint64_t now_ms);
  // Control thread: of a host that has reported long enough, and lately. Otherwise it begins anew.
  std::optional<uint32_t> reported(const plan::LoadWeights& rules, uint64_t now_ms);

  // Control thread: 0 to 1; absent: it has not said so since `expiration_ms` (0: ever).
  std::optional<double> utilization(uint64_t expiration_ms, uint64_t now_ms) const;

  // Any thread: 0: as it is assigned.
  uint32_t weight() const { return weight_.load(std::memory_order_relaxed); }
  // Control thread. False: it was the same.
  bool setWeight(uint32_t weight) {
    return weight_.exchange(weight, std::memory_order_relaxed) != weight;
  }

 private:
  static constexpr uint64_t kNever = UINT64_MAX;

  // A thread's own; held by others only while they are taken.
  struct Record {
    Mutex mutex;
    Sums sums;
  };

  const Uses uses_;
  const unsigned threads_;
  std::atomic<uint32_t> reported_{1};
  std::atomic<uint64_t> since_ms_{kNever};
  std::atomic<uint64_t> latest_ms_{0};
  std::atomic<uint32_t> weight_{0};
  std::atomic<double> utilization_{0};
  std::atomic<uint64_t> utilization_ms_{kNever};
  // Null: nobody wants metrics.
  const std::unique_ptr<Record[]> records_;
};

}  // namespace fairlead::upstream
