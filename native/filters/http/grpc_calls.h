// Calls by cluster, service and method, as the filters of gRPC count them
// ("cluster.<name>.grpc.<service>.<method>."). Workers count by themselves; the control thread
// makes statistics of it when they are wanted. Owned by a filter's configuration.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "filters/http/late_counts.h"
#include "stats/registry.h"

namespace fairlead::filters {

// "/service/method": the parts of a call's path. Both empty: it is none.
struct GrpcMethod {
  std::string_view service;
  std::string_view method;

  static GrpcMethod of(std::string_view path);
  bool isEmpty() const { return service.empty(); }
};

class GrpcCalls final : public LateCounts {
 public:
  // `protocol`: "grpc-web".
  GrpcCalls(unsigned workers, std::string_view protocol, bool records_times = false);

  // ---- a worker's ----
  // `method` may be empty: the cluster's calls together.
  void addStatus(unsigned worker, std::string_view cluster, const GrpcMethod& method,
                 std::string_view status);
  void addMessages(unsigned worker, std::string_view cluster, const GrpcMethod& method,
                   uint64_t requests, uint64_t responses);

  // How long the host took.
  void addTime(unsigned worker, std::string_view cluster, const GrpcMethod& method, uint64_t ms);

  // The control thread's.
  void publish(stats::Registry& registry) override;

 private:
  // The catalogue's counters of one call's scope, in their order.
  static constexpr size_t kCounters = static_cast<size_t>(stats::ClusterGrpc::Counter::kCount);
  // Written by its worker alone, but for what is published.
  struct Counts {
    std::array<std::atomic<uint64_t>, kCounters> now{};
    std::array<uint64_t, kCounters> published{};

    void add(stats::ClusterGrpc::Counter counter, uint64_t amount = 1) {
      std::atomic<uint64_t>& count = now[static_cast<size_t>(counter)];
      count.store(count.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
    }
  };
  using ByName = std::map<std::string, Counts, std::less<>>;
  // Times that its worker has put, and the control thread has not recorded yet. One that finds no
  // room is lost.
  struct Times {
    struct Time {
      const std::string* name;
      uint64_t ms;
    };
    std::array<Time, 1024> ring;
    std::atomic<uint64_t> put{0};
    std::atomic<uint64_t> taken{0};
  };
  struct Worker {
    // Null: they are not recorded.
    std::unique_ptr<Times> times;
    // Held by whoever adds names, and by the reader; a worker needs none to find its own.
    Mutex mutex;
    ByName by_name;
    // Of the call that is counted: "cluster\nservice\nmethod\nstem".
    std::string name;
  };

  // Null: there are too many names already, which clients make up. `stem`: of the counters of
  // statuses that gRPC has not, all but their last digit, as the catalogue has one for each digit.
  Counts* find(unsigned worker, std::string_view cluster, const GrpcMethod& method,
               std::string_view stem = {});
  stats::Block<stats::ClusterGrpc>& blockOf(stats::Registry& registry, const std::string& name);

  const std::string protocol_;
  std::vector<Worker> workers_;
  // The control thread's, by name.
  std::map<std::string, std::shared_ptr<stats::Block<stats::ClusterGrpc>>> blocks_;
};

}  // namespace fairlead::filters
