// Hosts for the connections that the control plane opens itself, such as those of gRPC services:
// the cluster's own policy chooses. The control thread's.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/random.h"
#include "upstream/balancer.h"
#include "upstream/cluster.h"
#include "upstream/subset_balancer.h"

namespace fairlead::upstream {

class ControlHosts {
 public:
  // `thread`: whose counters of a host are the control thread's.
  explicit ControlHosts(unsigned thread) : thread_(thread) {}

  // Null when no host may be used, which is counted.
  std::shared_ptr<Host> choose(const std::shared_ptr<Cluster>& cluster);

 private:
  struct Entry {
    Entry(const std::shared_ptr<Cluster>& of, unsigned thread, Random& random);
    void setHosts();
    // Connections of the control plane ask for no labels.
    Choice choose() { return subsets ? subsets->choose({}, nullptr) : balancer.choose(); }

    // Does not keep one that has been removed, of which nobody chooses any more.
    const std::weak_ptr<Cluster> cluster;
    std::shared_ptr<const HostSet> hosts;
    Balancer balancer;
    // Of a cluster with subsets.
    std::optional<SubsetBalancer> subsets;
  };

  const unsigned thread_;
  Random random_;
  // By name.
  std::map<std::string, std::unique_ptr<Entry>> entries_;
};

}  // namespace fairlead::upstream
