// What one update changes on workers: steps, of which each puts one thing in place or takes it
// away. One for all workers, immutable, taken up by each in order; names are resolved already.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "route/route_table.h"
#include "upstream/cluster.h"
#include "upstream/host_set.h"

namespace fairlead::worker {

// A cluster with its hosts, put in place together.
struct ClusterChange {
  // Of its name.
  uint32_t id = 0;
  // Null: there is none of that name from here on.
  std::shared_ptr<upstream::Cluster> cluster;
  std::shared_ptr<const upstream::HostSet> hosts;
};

// What requests go by that begin from here on.
struct RouteChange {
  uint32_t slot = 0;
  // Null: none.
  std::shared_ptr<const route::RouteTable> table;
};

// More is known of hosts of that cluster than the set that workers have says.
struct HealthNews {
  uint32_t id = 0;
};

using Step = std::variant<ClusterChange, RouteChange, HealthNews>;
using Delta = std::vector<Step>;

}  // namespace fairlead::worker
