// Which of its members a cluster without hosts of its own sends a request to: their priorities are
// put one behind the other, and share as those of one cluster do. Of one worker's view of the
// cluster; the worker's thread.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/random.h"
#include "upstream/cluster.h"
#include "upstream/retry_hosts.h"

namespace fairlead::upstream {

class WorkerCluster;
class WorkerClusters;

class Aggregate {
 public:
  struct Place {
    // Null: there is no member.
    WorkerCluster* member = nullptr;
    // All of the member's to the priority that was chosen. Lent until the next choice.
    const PriorityLoads* loads = nullptr;
  };

  Aggregate(const Cluster& cluster, WorkerClusters& all, Random& random)
      : cluster_(cluster), all_(all), random_(random) {}

  // `retry`: of a request that may have been tried before; null: it has not.
  Place choose(RetryHosts* retry = nullptr);

 private:
  struct Member {
    uint32_t id;
    std::shared_ptr<const HostSet> hosts;
    bool operator==(const Member&) const = default;
  };
  struct Priority {
    size_t member;
    size_t of_member;
  };

  void gather(std::vector<Member>* members) const;
  // Members, or their hosts, are others.
  void link();
  size_t chooseFrom(const PriorityLoads* loads, bool* is_healthy);
  // Which of all priorities a host is of; none: it is no member's any more.
  std::optional<size_t> priorityOf(const Host* host) const;

  const Cluster& cluster_;
  WorkerClusters& all_;
  Random& random_;
  std::vector<Member> members_;
  // Kept for its memory.
  std::vector<Member> now_;
  std::vector<Priority> priorities_;
  std::vector<PriorityShare> shares_;
  PriorityLoads loads_;
};

}  // namespace fairlead::upstream
