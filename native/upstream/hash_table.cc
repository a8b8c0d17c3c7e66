#include "upstream/hash_table.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <string>

#include "base/murmur_hash.h"
#include "base/xxhash.h"

namespace fairlead::upstream {

std::string_view hashKey(const Host& host, bool by_hostname) {
  const plan::Host& settings = host.settings();
  if (!settings.hash_key.empty()) return settings.hash_key;
  return by_hostname ? std::string_view(settings.hostname) : host.text();
}

void HashTable::count(uint64_t places_of_host) {
  figures_.min_per_host = std::min(figures_.min_per_host, places_of_host);
  figures_.max_per_host = std::max(figures_.max_per_host, places_of_host);
}

// ---- ring ----

namespace {

struct Point {
  uint64_t at;
  uint32_t owner;
};

// So many points for all hosts together that the one with the smallest share has a whole number.
double ringScale(const std::vector<HashShare>& shares, const plan::HashTable& settings) {
  double smallest = 1;
  for (const HashShare& share : shares) smallest = std::min(smallest, share.share);
  return std::min(std::ceil(smallest * static_cast<double>(settings.min_size)) / smallest,
                  static_cast<double>(settings.max_size));
}

// The name of a host's points: its key with their numbers behind it.
class PointName {
 public:
  explicit PointName(std::string_view key) : text_(key) {
    text_.push_back('_');
    stem_ = text_.size();
  }
  std::string_view of(uint64_t number) {
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
    text_.resize(stem_);
    text_.append(digits, end);
    return text_;
  }

 private:
  std::string text_;
  size_t stem_ = 0;
};

}  // namespace

RingTable::RingTable(const std::vector<HashShare>& shares, const plan::HashTable& settings) {
  const double scale = ringScale(shares, settings);
  figures_.size = static_cast<uint64_t>(std::ceil(scale));
  figures_.min_per_host = figures_.size;
  const bool is_murmur = settings.function == plan::HashTable::Function::MurmurHash2;
  std::vector<Point> points;
  points.reserve(figures_.size + 1);
  hosts_.reserve(shares.size());
  // What is left of a host's fraction of a point goes to those that follow.
  double wanted = 0;
  for (const HashShare& share : shares) {
    PointName name(hashKey(*share.host, settings.by_hostname));
    wanted += scale * share.share;
    uint64_t own = 0;
    while (static_cast<double>(points.size()) < wanted) {
      const std::string_view text = name.of(own++);
      points.push_back(
          {is_murmur ? murmurHash2(text) : xxHash64(text), static_cast<uint32_t>(hosts_.size())});
    }
    count(own);
    hosts_.push_back(share.host);
  }
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
    return a.at != b.at ? a.at < b.at : a.owner < b.owner;
  });
  points_.reserve(points.size());
  owners_.reserve(points.size());
  for (const Point& point : points) {
    points_.push_back(point.at);
    owners_.push_back(point.owner);
  }
}

Host* RingTable::find(const HashPick& pick) const {
  const auto found = std::lower_bound(points_.begin(), points_.end(), pick.hash);
  const size_t first =
      found == points_.end() ? 0 : static_cast<size_t>(std::distance(points_.begin(), found));
  return hosts_[owners_[(first + pick.attempt) % points_.size()]];
}

// ---- Maglev ----

namespace {

// A host that fills the table by a permutation of its own.
struct Filler {
  // The next place that it would take, and how far the one after that is.
  uint64_t next;
  uint64_t skip;
  double share;
  double wanted = 0;
  uint64_t taken = 0;
};

std::vector<HashShare> sortedByKey(std::vector<HashShare> shares, bool by_hostname) {
  std::stable_sort(shares.begin(), shares.end(),
                   [by_hostname](const HashShare& a, const HashShare& b) {
                     return hashKey(*a.host, by_hostname) < hashKey(*b.host, by_hostname);
                   });
  return shares;
}

uint32_t bitsFor(size_t hosts) { return static_cast<uint32_t>(std::bit_width(hosts)); }

}  // namespace

MaglevTable::MaglevTable(const std::vector<HashShare>& shares, const plan::HashTable& settings)
    : size_(settings.table_size), table_(size_, bitsFor(shares.size())) {
  figures_ = {size_, size_, 0};
  double largest = 0;
  std::vector<Filler> fillers;
  for (const HashShare& share : sortedByKey(shares, settings.by_hostname)) {
    const std::string_view key = hashKey(*share.host, settings.by_hostname);
    fillers.push_back({xxHash64(key) % size_, xxHash64(key, 1) % (size_ - 1) + 1, share.share});
    hosts_.push_back(share.host);
    largest = std::max(largest, share.share);
  }
  std::vector<bool> is_taken(size_);
  uint64_t filled = 0;
  for (uint64_t round = 1; filled < size_; ++round) {
    for (size_t i = 0; i < fillers.size() && filled < size_; ++i) {
      Filler& filler = fillers[i];
      // One with half the largest share has its turn every other round.
      if (static_cast<double>(round) * filler.share < filler.wanted) continue;
      filler.wanted += largest;
      const auto goOn = [&] {
        filler.next += filler.skip;
        if (filler.next >= size_) filler.next -= size_;
      };
      while (is_taken[filler.next]) goOn();
      is_taken[filler.next] = true;
      table_.set(filler.next, i);
      goOn();
      ++filler.taken;
      ++filled;
    }
  }
  for (const Filler& filler : fillers) count(filler.taken);
  // As the real server, which makes no table for one.
  if (fillers.size() == 1) figures_.min_per_host = figures_.max_per_host = 1;
}

Host* MaglevTable::find(const HashPick& pick) const {
  uint64_t hash = pick.hash;
  // Another place than that of the attempt before, far away from it.
  if (pick.attempt > 0) hash ^= ~uint64_t{0} - pick.attempt + 1;
  return hosts_[table_.at(hash % size_)];
}

}  // namespace fairlead::upstream
