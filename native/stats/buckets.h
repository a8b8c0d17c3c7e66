// Histograms as buckets with upper bounds. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stats/query.h"

namespace fairlead::stats {

// For each bound how many values lie at or below it, less those of smaller bounds when disjoint.
inline std::vector<uint64_t> bucketCounts(const Distribution& of, std::span<const double> bounds,
                                          Buckets buckets) {
  std::vector<uint64_t> counts = of.atOrBelow(bounds);
  if (buckets != Buckets::Disjoint) return counts;
  for (size_t i = counts.size(); i-- > 1;) counts[i] -= counts[i - 1];
  return counts;
}

}  // namespace fairlead::stats
