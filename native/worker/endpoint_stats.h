// What is counted of single hosts, in clusters that show it (track_cluster_stats): made of the
// hosts' own counters when somebody is about to read, so that traffic is none the wiser. The
// control thread's.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "stats/registry.h"
#include "upstream/cluster.h"

namespace fairlead::worker {

class EndpointStats {
 public:
  using ClustersByName = std::map<std::string, std::shared_ptr<upstream::Cluster>>;

  // The registry has all hosts as they are now.
  void refresh(const ClustersByName& clusters, stats::Registry* registry);

 private:
  using Block = stats::Block<stats::Endpoint>;
  struct Known {
    std::weak_ptr<upstream::Host> host;
    std::shared_ptr<Block> block;
    // By counter: what the block has been told.
    std::array<uint64_t, static_cast<size_t>(stats::Endpoint::Counter::kCount)> told{};
  };

  static std::shared_ptr<Block> makeBlock(const upstream::Cluster& cluster,
                                          const upstream::Host& host);
  static void publish(const upstream::Host& host, Known& known);

  std::unordered_map<const upstream::Host*, Known> known_;
};

}  // namespace fairlead::worker
