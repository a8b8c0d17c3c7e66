// Histograms as the real server has them: log-linear bins of two significant decimal digits, so
// that quantiles and bucket counts agree with its own. This is the writer's half; distribution.h is
// the reader's.
//
// A worker's cells only grow, written by it alone; the reader remembers what it merged last, and so
// knows both the interval and the total without ever writing to a cell.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

namespace fairlead::stats {

// A bin's number: 0 is the value 0; then 90 bins for each power of ten, from [1, 1.1) on.
using Bin = uint16_t;
constexpr int kBinsPerDecade = 90;
constexpr int kDecades = 20;
constexpr int kBins = 1 + kBinsPerDecade * kDecades;

constexpr std::array<uint64_t, kDecades> kPowersOfTen = [] {
  std::array<uint64_t, kDecades> powers{};
  uint64_t power = 1;
  for (uint64_t& each : powers) {
    each = power;
    power *= 10;
  }
  return powers;
}();

// floor(log10(value)) of a value above 0: from the number of bits (1233/4096 is just below log10 of
// 2), then one step.
constexpr int decadeOf(uint64_t value) {
  const int guess = (std::bit_width(value) * 1233) >> 12;
  return value < kPowersOfTen[guess] ? guess - 1 : guess;
}

constexpr Bin binOf(uint64_t value) {
  if (value == 0) return 0;
  if (value < 10) return static_cast<Bin>(1 + (value - 1) * 10);
  const int decade = decadeOf(value);
  return static_cast<Bin>(1 + decade * kBinsPerDecade + value / kPowersOfTen[decade - 1] - 10);
}

double lowerEdge(Bin bin);
double binWidth(Bin bin);

// How often values fell into bins, summed over the shards of one histogram.
class BinCounts {
 public:
  void clear() {
    std::fill_n(counts_.begin(), end_, 0);
    end_ = 0;
  }
  void add(Bin bin, uint64_t count) {
    counts_[bin] += count;
    if (bin >= end_) end_ = bin + 1;
  }
  uint64_t operator[](Bin bin) const { return counts_[bin]; }
  // All bins from here on are 0.
  int end() const { return end_; }

 private:
  std::array<uint64_t, kBins> counts_ = {};
  int end_ = 0;
};

// One worker's cells of one histogram: ten for the values below ten, and a page for each power of
// ten from there on, made when first needed. record() is the owner's; anyone may read.
class HistogramCells {
 public:
  HistogramCells() = default;
  HistogramCells(const HistogramCells&) = delete;
  HistogramCells& operator=(const HistogramCells&) = delete;
  ~HistogramCells();

  void record(uint64_t value) {
    if (value < 10) {
      bump(units_[value]);
    } else {
      recordInPage(value);
    }
    // Whoever sees this also sees the cell.
    recorded_.store(recorded_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  // Changes with each value; what is recorded at this very moment may be missed.
  uint64_t recorded() const { return recorded_.load(std::memory_order_acquire); }
  void addTo(BinCounts* counts) const;
  // The owner's, as whom nobody else writes to `other` any more: all that was recorded there was
  // recorded here.
  void takeOver(HistogramCells& other);

 private:
  struct Page {
    std::atomic<uint64_t> counts[kBinsPerDecade] = {};
  };

  static void bump(std::atomic<uint64_t>& count) {
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void recordInPage(uint64_t value) {
    const int decade = decadeOf(value);
    // Two digits need no division.
    const uint64_t digits = decade == 1 ? value : value / kPowersOfTen[decade - 1];
    Page* page = pages_[decade - 1].load(std::memory_order_relaxed);
    if (!page) page = makePage(decade);
    bump(page->counts[digits - 10]);
  }
  Page* makePage(int decade);

  std::atomic<uint64_t> recorded_{0};
  std::atomic<uint64_t> units_[10] = {};
  // By decade, from tens on.
  std::atomic<Page*> pages_[kDecades - 1] = {};
};

}  // namespace fairlead::stats
