// Requests that are counted apart: those of a route, or of a part of a virtual host (a virtual
// cluster). Immutable but for its statistics.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "route/header_match.h"
#include "stats/registry.h"

namespace fairlead::route {

using GroupStats = std::shared_ptr<stats::Block<stats::VirtualCluster>>;

struct RequestGroup {
  std::string name;
  // All of them. None: every request is one of it.
  std::vector<HeaderMatch> headers;
  GroupStats stats;
  // Of all that no other group has: logs do not name it.
  bool is_rest = false;

  bool has(const RequestView& request) const {
    return std::all_of(headers.begin(), headers.end(),
                       [&](const HeaderMatch& header) { return header.matches(request); });
  }
};

}  // namespace fairlead::route
