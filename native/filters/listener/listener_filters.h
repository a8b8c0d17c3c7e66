// The listener filters that there are. A new one is a pair of files and a line in
// listener_filters.cc.
#pragma once

#include "base/result.h"
#include "net/listener_filter.h"
#include "stats/registry.h"

namespace fairlead::filters {

Result<net::ListenerFilters> buildListenerFilters(const std::vector<plan::ListenerFilter>& plans,
                                                  stats::Registry& registry);

}  // namespace fairlead::filters
