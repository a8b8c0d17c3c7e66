// GET /clusters: every cluster's limits and hosts with their numbers, as text or JSON, cluster by
// cluster. The control thread's.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "stats/query.h"
#include "worker/data_plane.h"

namespace fairlead::worker {

using NameFilter = std::function<bool(std::string_view)>;

// Of clusters whose hosts come by EDS under a name of their own.
using ServiceNames = std::unordered_map<std::string, std::string>;

std::unique_ptr<stats::Page> openClustersText(const DataPlane& data_plane, NameFilter filter,
                                              ServiceNames services = {});
std::unique_ptr<stats::Page> openClustersJson(const DataPlane& data_plane, NameFilter filter,
                                              ServiceNames services = {});

// One element of the JSON page, compact.
std::string clusterStatusJson(const upstream::Cluster& cluster);
// {"dropped":1,"category":"…","shed":2,"hosts":[{"named_metrics.queue":[2,7.5]}]}, for load
// reports: how many requests drop_overloads has had refused since the cluster is there, as being of
// that category, and how many others limits and maintenance; and what its hosts have reported of
// their load since the last call, in the order of that element's, of each name the number of
// reports and their sum. Without hosts where nobody wants to know that.
std::string takeLoadsJson(const upstream::Cluster& cluster);

}  // namespace fairlead::worker
