// Hosts of clusters that make them as they are asked for: takes up those that workers have made,
// and drops those that nobody has used for long. The control thread's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "upstream/cluster.h"
#include "worker/cluster_turns.h"

namespace fairlead::worker {

class Destinations {
 public:
  using ClustersByName = std::map<std::string, std::shared_ptr<upstream::Cluster>>;
  struct Change {
    std::shared_ptr<upstream::Cluster> cluster;
    // All that it has from here on.
    std::vector<std::shared_ptr<upstream::Host>> hosts;
    // Of these, those that have just been made.
    std::vector<std::shared_ptr<upstream::Host>> made;
    // How many came or went.
    uint64_t count = 0;
  };

  // `wake`: asks for run() soon, on any thread; null: it is called without.
  Destinations(unsigned workers, std::function<void()> wake)
      : made_(std::make_shared<upstream::MadeHosts>(workers, std::move(wake))) {}

  // Has a cluster make its hosts, if it is to.
  void attach(upstream::Cluster& cluster, uint64_t now_ms);
  // What has changed by now, in milliseconds of upstream::hostClockMs(); each cluster comes once.
  std::vector<Change> run(const ClustersByName& clusters, uint64_t now_ms);
  // When hosts are to be looked through next; UINT64_MAX: there are none.
  uint64_t due() const { return turns_.due(); }

 private:
  using Changes = std::map<std::string, Change>;

  static Change& changeOf(const std::shared_ptr<upstream::Cluster>& cluster, Changes* changes);
  static void dropUnused(const std::shared_ptr<upstream::Cluster>& cluster, Changes* changes);

  const std::shared_ptr<upstream::MadeHosts> made_;
  ClusterTurns turns_;
};

}  // namespace fairlead::worker
