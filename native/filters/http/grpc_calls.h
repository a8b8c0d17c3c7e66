// Calls by cluster, service and method, as the filters of gRPC count them
// ("cluster.<name>.grpc.<service>.<method>."). Workers count by themselves; the control thread
// makes statistics of it when they are wanted. Owned by a filter's configuration.
#pragma once

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
  GrpcCalls(unsigned workers, std::string_view protocol);

  // ---- a worker's ----
  // `method` may be empty: the cluster's calls together.
  void addStatus(unsigned worker, std::string_view cluster, const GrpcMethod& method,
                 std::string_view status);
  // Of a call that has no status of gRPC.
  void addOutcome(unsigned worker, std::string_view cluster, const GrpcMethod& method,
                  bool succeeded);
  void addMessages(unsigned worker, std::string_view cluster, const GrpcMethod& method,
                   uint64_t requests, uint64_t responses);

  // How long the host took.
  void addTime(unsigned worker, std::string_view cluster, const GrpcMethod& method, uint64_t ms);

  // The control thread's.
  void publish(stats::Registry& registry) override;

 private:
  static void addOutcome(stats::Shard<stats::ClusterGrpc>& shard, bool succeeded);

  using Counts = LateShard<stats::ClusterGrpc>;
  using ByName = std::map<std::string, Counts, std::less<>>;
  struct Worker {
    // Held by whoever adds names, and by the reader; a worker needs none to find its own.
    Mutex mutex;
    ByName by_name;
    // Of the call that is counted: "cluster\nservice\nmethod\nstem".
    std::string name;
    // Names with stems.
    size_t strange_names = 0;
  };

  // Null: there are too many names already, which clients make up, and with stems hosts. `stem`: of
  // the counters of statuses that gRPC has not, all but their last digit, as the catalogue has one
  // for each digit.
  Counts* find(unsigned worker, std::string_view cluster, const GrpcMethod& method,
               std::string_view stem = {});
  stats::Block<stats::ClusterGrpc>& blockOf(stats::Registry& registry, const std::string& name);

  const std::string protocol_;
  std::vector<Worker> workers_;
  // The control thread's, by name.
  std::map<std::string, std::shared_ptr<stats::Block<stats::ClusterGrpc>>> blocks_;
};

}  // namespace fairlead::filters
