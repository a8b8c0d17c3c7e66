// The share that a host gets while it warms up: more from second to second, until it has its own.
#pragma once

#include "upstream/balancer_settings.h"
#include "upstream/host_list.h"

namespace fairlead::upstream {

// Of 1: how much of its share a host gets now.
double slowStartShare(const Host& host, const SlowStartSettings& settings);
// One of them does not have all of its share.
bool isAnySlow(const HostList& hosts, const std::optional<SlowStartSettings>& settings);

}  // namespace fairlead::upstream
