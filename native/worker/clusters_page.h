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
// What its hosts have reported of their load since the last call, in the order of that element's:
// [{"named_metrics.queue":[2,7.5]}], of each name the number of reports and their sum. Empty:
// nobody wants to know.
std::string takeLoadsJson(const upstream::Cluster& cluster);

}  // namespace fairlead::worker
