// Processes that tell each other of their statistics.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "hot_restart/stats_transfer.h"

namespace fairlead::hot_restart {

inline constexpr unsigned kWorkers = 1;

// Everything that there is to tell.
inline std::string tell(StatsExport& from) {
  std::string all;
  while (from.next(&all, 1'000'000)) {
  }
  return all;
}

struct Process {
  stats::Registry registry{kWorkers};
  std::shared_ptr<stats::Block<stats::Cluster>> block =
      registry.create<stats::Cluster>(stats::clusterScope("a"));

  stats::Shard<stats::Cluster>& worker() { return *block->shard(1); }
  uint64_t value(const char* name) const { return registry.value(name).value_or(UINT64_MAX); }
};

}  // namespace fairlead::hot_restart
