#include "stats/native_buckets.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace fairlead::stats {

namespace {

// The buckets of a bin's edges, in the finest schema.
struct Reach {
  int32_t first;
  int32_t last;
};

int32_t indexOf(double value) {
  constexpr double kPerDoubling = 1 << NativeBuckets::kFinestSchema;
  return static_cast<int32_t>(std::ceil(std::log2(value) * kPerDoubling));
}

// Logarithms are slow, and bins are few.
const std::array<Reach, kBins>& reaches() {
  static const std::array<Reach, kBins> table = [] {
    std::array<Reach, kBins> table{};
    for (Bin bin = 1; bin < kBins; ++bin) {
      const double low = lowerEdge(bin);
      table[bin] = {indexOf(low), indexOf(low + binWidth(bin))};
    }
    return table;
  }();
  return table;
}

// The same bucket, in a schema that is `steps` coarser.
int32_t coarser(int32_t index, int steps) { return (index + (1 << steps) - 1) >> steps; }

bool fits(const std::vector<Distribution::Entry>& entries, int steps, uint32_t max_buckets) {
  int64_t counted = INT32_MIN;
  uint64_t count = 0;
  for (const Distribution::Entry& entry : entries) {
    if (entry.bin == 0) continue;
    const Reach& reach = reaches()[entry.bin];
    const int64_t first = std::max<int64_t>(coarser(reach.first, steps), counted + 1);
    const int64_t last = coarser(reach.last, steps);
    if (last < first) continue;
    count += static_cast<uint64_t>(last - first + 1);
    if (count > max_buckets) return false;
    counted = last;
  }
  return true;
}

}  // namespace

void NativeBuckets::fill(const Distribution& of, uint32_t max_buckets) {
  constexpr int kMostSteps = kFinestSchema - kCoarsestSchema;
  int steps = 0;
  while (steps < kMostSteps && !fits(of.entries(), steps, max_buckets)) ++steps;
  schema_ = kFinestSchema - steps;
  zeros_ = 0;
  buckets_.clear();
  for (const Distribution::Entry& entry : of.entries()) {
    if (entry.bin == 0) {
      zeros_ += entry.count;
      continue;
    }
    const int32_t index = coarser(reaches()[entry.bin].first, steps);
    if (buckets_.empty() || buckets_.back().index != index) buckets_.push_back({index, 0});
    buckets_.back().count += entry.count;
  }
}

}  // namespace fairlead::stats
