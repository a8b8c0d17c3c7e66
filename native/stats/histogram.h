// Histograms as the real server has them: log-linear bins of two significant decimal digits, so that
// quantiles and bucket counts agree with its own.
//
// A worker's cells only grow, written by it alone; the reader remembers what it merged last, and so
// knows both the interval and the total without ever writing to a cell.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fairlead::stats {

// A bin's number: 0 is the value 0; then 90 bins for each power of ten, from [1, 1.1) on.
using Bin = uint16_t;
constexpr int kBinsPerDecade = 90;
constexpr int kDecades = 20;

// The bin of a value. Pure.
Bin binOf(uint64_t value);
double lowerEdge(Bin bin);
double binWidth(Bin bin);

// One worker's cells of one histogram. record() is the owner's; anyone may read.
class HistogramCells {
 public:
  HistogramCells() = default;
  HistogramCells(const HistogramCells&) = delete;
  HistogramCells& operator=(const HistogramCells&) = delete;
  ~HistogramCells();

  void record(uint64_t value) {
    const Bin bin = binOf(value);
    if (bin == 0) {
      bump(zero_);
      return;
    }
    Decade* decade = decades_[(bin - 1) / kBinsPerDecade].load(std::memory_order_relaxed);
    if (!decade) decade = makeDecade((bin - 1) / kBinsPerDecade);
    bump(decade->counts[(bin - 1) % kBinsPerDecade]);
  }

  // Adds every count to `counts` (indexed by bin, grown as needed).
  void addTo(std::vector<uint64_t>& counts) const;

 private:
  struct Decade {
    std::atomic<uint64_t> counts[kBinsPerDecade] = {};
  };

  static void bump(std::atomic<uint64_t>& count) {
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  Decade* makeDecade(int index);

  std::atomic<uint64_t> zero_{0};
  std::atomic<Decade*> decades_[kDecades] = {};
};

// How often values fell into bins: what a histogram says of a span of time.
class Distribution {
 public:
  struct Entry {
    Bin bin;
    uint64_t count;
  };

  Distribution() = default;
  // `counts` by bin, less those of `before`.
  Distribution(const std::vector<uint64_t>& counts, const std::vector<uint64_t>& before);

  bool empty() const { return entries_.empty(); }
  uint64_t count() const { return count_; }
  const std::vector<Entry>& entries() const { return entries_; }
  // The value below which the share `q` (0 to 1) of all lies; NaN when there is none.
  double quantile(double q) const;
  // How many values are counted at or below `bound`.
  uint64_t atOrBelow(double bound) const;
  // An estimate: a bin's values count as its harmonic middle.
  double sum() const;

 private:
  std::vector<Entry> entries_;
  uint64_t count_ = 0;
};

// Quantiles that are shown.
constexpr double kQuantiles[] = {0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 1};
// Upper bounds of buckets.
constexpr double kBucketBounds[] = {0.5,   1,     5,     10,     25,     50,      100,
                                    250,   500,   1000,  2500,   5000,   10000,   30000,
                                    60000, 300000, 600000, 1800000, 3600000};

}  // namespace fairlead::stats
