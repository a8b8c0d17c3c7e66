// The listener filters that there are. A new one is a pair of files and a line in
// listener_filters.cc.
#pragma once

#include "base/result.h"
#include "base/runtime_slots.h"
#include "filters/listener/discovered.h"
#include "net/listener_filter.h"
#include "stats/registry.h"

namespace fairlead::filters {

// What they are made with; all of it outlives them.
struct ListenerFilterParts {
  stats::Registry& registry;
  RuntimeSlots& slots;
  unsigned workers;
  // Takes those that come later.
  DiscoveredListenerFilters& discovered;
};

Result<net::ListenerFilters> buildListenerFilters(const std::vector<plan::ListenerFilter>& plans,
                                                  const ListenerFilterParts& parts);
// What stands in a discovered place; null: nothing.
Result<DiscoveredListenerConfig::Inner> buildDiscovered(const plan::DiscoveredListenerFilter& plan,
                                                        const ListenerFilterParts& parts);

}  // namespace fairlead::filters
