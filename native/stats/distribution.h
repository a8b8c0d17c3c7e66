// What a histogram says of a span of time: how often values fell into which bins. The control
// thread's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stats/histogram.h"

namespace fairlead::stats {

// Quantiles that are shown.
constexpr double kQuantiles[] = {0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 1};
// Upper bounds of buckets, where the configuration has no others.
constexpr double kBucketBounds[] = {0.5,   1,      5,      10,      25,     50,    100,
                                    250,   500,    1000,   2500,    5000,   10000, 30000,
                                    60000, 300000, 600000, 1800000, 3600000};

class Distribution {
 public:
  struct Entry {
    Bin bin;
    uint64_t count;
  };

  Distribution() = default;
  explicit Distribution(const BinCounts& counts);
  // What came after `before`, an earlier state of the same histogram.
  Distribution since(const Distribution& before) const;

  bool empty() const { return entries_.empty(); }
  uint64_t count() const { return count_; }
  // By bin, none of them 0.
  const std::vector<Entry>& entries() const { return entries_; }
  // The value below which the share `q` (0 to 1) of all lies, by interpolation in its bin; NaN when
  // there is none.
  double quantile(double q) const;
  // For each bound how many values are at or below it; a bin counts by its lower edge.
  std::vector<uint64_t> atOrBelow(std::span<const double> bounds) const;
  // An estimate: a bin's values count as its harmonic middle.
  double sum() const;

 private:
  void add(Bin bin, uint64_t count);

  std::vector<Entry> entries_;
  uint64_t count_ = 0;
};

}  // namespace fairlead::stats
