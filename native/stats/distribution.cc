#include "stats/distribution.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fairlead::stats {

Distribution::Distribution(const BinCounts& counts) {
  for (int bin = 0; bin < counts.end(); ++bin) {
    add(static_cast<Bin>(bin), counts[static_cast<Bin>(bin)]);
  }
}

Distribution Distribution::since(const Distribution& before) const {
  Distribution result;
  auto old = before.entries_.begin();
  for (const Entry& entry : entries_) {
    // Bins only grow: all that were there before are still there.
    const bool known = old != before.entries_.end() && old->bin == entry.bin;
    result.add(entry.bin, entry.count - (known ? old->count : 0));
    if (known) ++old;
  }
  return result;
}

void Distribution::add(Bin bin, uint64_t count) {
  if (count == 0) return;
  entries_.push_back({bin, count});
  count_ += count;
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

std::vector<uint64_t> Distribution::atOrBelow(std::span<const double> bounds) const {
  std::vector<uint64_t> result;
  result.reserve(bounds.size());
  uint64_t count = 0;
  auto entry = entries_.begin();
  for (const double bound : bounds) {
    for (; entry != entries_.end() && lowerEdge(entry->bin) <= bound; ++entry) {
      count += entry->count;
    }
    result.push_back(count);
  }
  return result;
}

double Distribution::sum() const {
  double result = 0;
  for (const Entry& entry : entries_) {
    const double low = lowerEdge(entry.bin);
    const double width = binWidth(entry.bin);
    if (low == 0) continue;
    // 2 * low * high / (low + high), computed so that the last digits agree with the real server's.
    const double middle = low + width * (low / (low + (low + width)));
    result += middle * static_cast<double>(entry.count);
  }
  return result;
}

}  // namespace fairlead::stats
