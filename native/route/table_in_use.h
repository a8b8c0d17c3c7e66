// The route table that one worker goes by at one place of the configuration (a slot), and those
// before it that requests still stand on. The worker's thread only.
#pragma once

#include "base/worker_pin.h"
#include "route/route_table.h"

namespace fairlead::route {

using TablePin = WorkerPin<RouteTable>;

}  // namespace fairlead::route
