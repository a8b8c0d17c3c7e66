// What fault filters have in common beside their plans: what runtime keys say of single downstream
// clusters, and what is counted by downstream cluster. Owned by the data plane, and outlives all
// that is built from plans.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::filters {

// Faults of one filter by the downstream cluster that requests say they come from. Workers count by
// themselves; the control thread makes statistics of it when they are wanted.
class FaultsByCluster {
 public:
  // `http`: the connection manager's scope.
  FaultsByCluster(unsigned workers, stats::Scope http)
      : http_(std::move(http)), workers_(workers) {}

  // The worker's.
  void addDelay(unsigned worker, std::string_view cluster) {
    if (Counts* counts = find(worker, cluster)) add(counts->delays);
  }
  void addAbort(unsigned worker, std::string_view cluster) {
    if (Counts* counts = find(worker, cluster)) add(counts->aborts);
  }
  // The control thread's.
  void publish(stats::Registry& registry);

 private:
  // Written by its worker alone, but for what is published.
  struct Counts {
    std::atomic<uint64_t> delays{0};
    std::atomic<uint64_t> aborts{0};
    uint64_t published_delays = 0;
    uint64_t published_aborts = 0;
  };
  struct Worker {
    // Held by whoever adds names, and by the reader; a worker needs none to find its own.
    Mutex mutex;
    std::map<std::string, Counts, std::less<>> by_cluster;
  };

  static void add(std::atomic<uint64_t>& count) {
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  // Null: there are too many names already, which clients make up.
  Counts* find(unsigned worker, std::string_view cluster);

  const stats::Scope http_;
  std::vector<Worker> workers_;
  // The control thread's, by cluster.
  std::map<std::string, std::shared_ptr<stats::Block<stats::HttpFaultCluster>>> blocks_;
};

// What runtime keys say of requests of one downstream cluster; absent: nothing.
struct FaultNumbers {
  // In millionths, as that of aborts.
  std::optional<uint64_t> delay_share;
  std::optional<uint64_t> delay_ms;
  std::optional<uint64_t> abort_share;
  std::optional<uint64_t> http_status;
  std::optional<uint64_t> grpc_status;

  bool isEmpty() const {
    return !delay_share && !delay_ms && !abort_share && !http_status && !grpc_status;
  }
};

// The numbers of runtime keys by downstream cluster
// ("fault.http.<cluster>.delay.fixed_duration_ms"). The control thread replaces them as a whole;
// each worker sees that by one load.
class FaultRuntimes {
 public:
  using Table = std::map<std::string, FaultNumbers, std::less<>>;

  // The control thread's. A cluster of which nothing is said is forgotten.
  void apply(const std::vector<plan::FaultRuntime>& runtimes);

  // One worker's.
  class Reader {
   public:
    FaultNumbers find(const FaultRuntimes& of, std::string_view cluster);

   private:
    uint64_t version_ = 0;
    std::shared_ptr<const Table> table_;
  };

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const Table> table_;
  // Raised after the table was replaced; 0: there has never been one.
  std::atomic<uint64_t> version_{0};
};

// The control thread's.
class Faults {
 public:
  FaultRuntimes& runtimes() { return runtimes_; }
  void add(const std::shared_ptr<FaultsByCluster>& counts) { counts_.push_back(counts); }
  // What was counted since the last time becomes visible.
  void publish(stats::Registry& registry);

 private:
  FaultRuntimes runtimes_;
  std::vector<std::weak_ptr<FaultsByCluster>> counts_;
};

}  // namespace fairlead::filters
