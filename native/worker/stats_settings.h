// Sets a registry up as the configuration has it. The control thread, before the first scope.
#pragma once

#include "base/result.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::worker {

Result<void> applyStatsSettings(const plan::StatsSettings& settings, stats::Registry* registry);

}  // namespace fairlead::worker
