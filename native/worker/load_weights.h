// Weights of hosts that follow what they report of their load, of all clusters that have such: made
// anew at intervals. The control thread's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "upstream/cluster.h"
#include "worker/cluster_turns.h"

namespace fairlead::worker {

class LoadWeights {
 public:
  using ClustersByName = std::map<std::string, std::shared_ptr<upstream::Cluster>>;
  using Hosts = std::vector<std::shared_ptr<upstream::Host>>;

  // Times are in milliseconds of upstream::hostClockMs().
  void attach(const upstream::Cluster& cluster, uint64_t now_ms);
  // Of hosts of that cluster. False: all have the weights that they had.
  static bool update(const upstream::Cluster& cluster, const Hosts& hosts, uint64_t now_ms);
  // The names of clusters whose weights are others by now.
  std::set<std::string> run(const ClustersByName& clusters, uint64_t now_ms);
  // When the next interval ends; UINT64_MAX: there is none.
  uint64_t due() const { return turns_.due(); }

 private:
  ClusterTurns turns_;
};

}  // namespace fairlead::worker
