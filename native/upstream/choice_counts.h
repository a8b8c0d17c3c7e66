// What a cluster counts of how hosts were chosen, whoever has asked. The thread's of the shard.
#pragma once

#include "stats/registry.h"
#include "upstream/balancer.h"

namespace fairlead::upstream {

inline void countChoice(stats::Shard<stats::Cluster>& stats, const Choice& choice) {
  using Counter = stats::Cluster::Counter;
  using Verdict = ZoneRouting::Verdict;
  if (choice.panicked) stats.add(Counter::LbHealthyPanic);
  if (choice.local_cluster_panics) stats.add(Counter::LbLocalClusterNotOk);
  switch (choice.zone) {
    case Verdict::None:
      break;
    case Verdict::AllDirectly:
      stats.add(Counter::LbZoneRoutingAllDirectly);
      break;
    case Verdict::Sampled:
      stats.add(Counter::LbZoneRoutingSampled);
      break;
    case Verdict::NoCapacityLeft:
      stats.add(Counter::LbZoneNoCapacityLeft);
      [[fallthrough]];
    case Verdict::CrossZone:
      stats.add(Counter::LbZoneRoutingCrossZone);
      break;
  }
  switch (choice.subset) {
    case Choice::Subset::None:
      break;
    case Choice::Subset::Selected:
      stats.add(Counter::LbSubsetsSelected);
      break;
    case Choice::Subset::Fallback:
      stats.add(Counter::LbSubsetsFallback);
      break;
    case Choice::Subset::Panic:
      stats.add(Counter::LbSubsetsFallbackPanic);
      break;
  }
}

}  // namespace fairlead::upstream
