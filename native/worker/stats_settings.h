// Sets a registry up as the configuration has it. The control thread.
#pragma once

#include "base/result.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::worker {

// Before the first scope.
Result<void> applyStatsSettings(const plan::StatsSettings& settings, stats::Registry* registry);

// Of statistics whose names begin so, before the scopes that are chosen from; null: there are all.
Result<void> chooseStats(const plan::StatsChoice* choice, const std::string& prefix,
                         stats::Registry* registry);

}  // namespace fairlead::worker
