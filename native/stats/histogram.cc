#include "stats/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace fairlead::stats {

namespace {

constexpr uint64_t kPowersOfTen[kDecades] = {1ull,
                                             10ull,
                                             100ull,
                                             1000ull,
                                             10000ull,
                                             100000ull,
                                             1000000ull,
                                             10000000ull,
                                             100000000ull,
                                             1000000000ull,
                                             10000000000ull,
                                             100000000000ull,
                                             1000000000000ull,
                                             10000000000000ull,
                                             100000000000000ull,
                                             1000000000000000ull,
                                             10000000000000000ull,
                                             100000000000000000ull,
                                             1000000000000000000ull,
                                             10000000000000000000ull};

// floor(log10(value)): from the number of bits (1233/4096 is just below log10 of 2), then one step.
int exponentOf(uint64_t value) {
  const int guess = (std::bit_width(value) * 1233) >> 12;
  return value < kPowersOfTen[guess] ? guess - 1 : guess;
}

}  // namespace

Bin binOf(uint64_t value) {
  if (value == 0) return 0;
  // Most values are a few milliseconds: no division for those.
  if (value < 10) return static_cast<Bin>(1 + value * 10 - 10);
  if (value < 100) return static_cast<Bin>(1 + kBinsPerDecade + value - 10);
  const int exponent = exponentOf(value);
  const uint64_t digits = value / kPowersOfTen[exponent - 1];
  return static_cast<Bin>(1 + exponent * kBinsPerDecade + digits - 10);
}

double lowerEdge(Bin bin) {
  if (bin == 0) return 0;
  const int exponent = (bin - 1) / kBinsPerDecade;
  const double digits = (bin - 1) % kBinsPerDecade + 10;
  return exponent == 0 ? digits / 10 : digits * static_cast<double>(kPowersOfTen[exponent - 1]);
}

double binWidth(Bin bin) {
  if (bin == 0) return 0;
  const int exponent = (bin - 1) / kBinsPerDecade;
  return exponent == 0 ? 0.1 : static_cast<double>(kPowersOfTen[exponent - 1]);
}

HistogramCells::~HistogramCells() {
  for (std::atomic<Decade*>& decade : decades_) delete decade.load();
}

HistogramCells::Decade* HistogramCells::makeDecade(int index) {
  auto* decade = new Decade;
  decades_[index].store(decade, std::memory_order_release);
  return decade;
}

void HistogramCells::addTo(std::vector<uint64_t>& counts) const {
  const auto add = [&counts](size_t bin, uint64_t count) {
    if (count == 0) return;
    if (bin >= counts.size()) counts.resize(bin + 1);
    counts[bin] += count;
  };
  add(0, zero_.load(std::memory_order_relaxed));
  for (size_t i = 0; i < kDecades; ++i) {
    const Decade* decade = decades_[i].load(std::memory_order_acquire);
    if (!decade) continue;
    for (size_t j = 0; j < kBinsPerDecade; ++j) {
      add(1 + i * kBinsPerDecade + j, decade->counts[j].load(std::memory_order_relaxed));
    }
  }
}

Distribution::Distribution(const std::vector<uint64_t>& counts,
                           const std::vector<uint64_t>& before) {
  for (size_t bin = 0; bin < counts.size(); ++bin) {
    const uint64_t count = counts[bin] - (bin < before.size() ? before[bin] : 0);
    if (count == 0) continue;
    entries_.push_back({static_cast<Bin>(bin), count});
    count_ += count;
  }
}

double Distribution::quantile(double q) const {
  if (entries_.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double exact = std::ceil(q * static_cast<double>(count_));
  const uint64_t target = std::max<uint64_t>(1, static_cast<uint64_t>(exact));
  uint64_t before = 0;
  for (const Entry& entry : entries_) {
    if (before + entry.count >= target) {
      const double rank = static_cast<double>(target - before);
      return lowerEdge(entry.bin) +
             binWidth(entry.bin) * rank / (static_cast<double>(entry.count) + 1);
    }
    before += entry.count;
  }
  return lowerEdge(entries_.back().bin);
}

uint64_t Distribution::atOrBelow(double bound) const {
  uint64_t result = 0;
  for (const Entry& entry : entries_) {
    if (lowerEdge(entry.bin) <= bound) result += entry.count;
  }
  return result;
}

double Distribution::sum() const {
  double result = 0;
  for (const Entry& entry : entries_) {
    const double low = lowerEdge(entry.bin);
    const double high = low + binWidth(entry.bin);
    if (low > 0) result += static_cast<double>(entry.count) * 2 * low * high / (low + high);
  }
  return result;
}

}  // namespace fairlead::stats
