// How requests are shared out among the localities of a host set, by how busy these are. Made with
// the set, for its localities; the control thread changes the shares while workers draw by them: a
// draw in between is by some of the old and some of the new ones.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/random.h"

namespace fairlead::upstream {

class LocalityShares {
 public:
  // Which hosts of a locality requests go to.
  enum class Source : uint8_t { Healthy, Degraded, All };
  static constexpr size_t kSources = 3;

  // `localities`: of each priority, how many.
  explicit LocalityShares(const std::vector<size_t>& localities) {
    for (const size_t count : localities) priorities_.emplace_back(count);
  }

  // Control thread: relative to the others of the same priority and source.
  void set(size_t priority, Source source, size_t locality, double share) {
    at(priority, source, locality).store(share, std::memory_order_relaxed);
  }
  // All requests stay in the first locality, with no exception.
  void setAllLocal(size_t priority, Source source, bool is_all_local) {
    priorities_[priority].all_local[index(source)].store(is_all_local, std::memory_order_relaxed);
  }

  // Any thread. Without any share: the first.
  size_t draw(size_t priority, Source source, Random& random) const {
    const Priority& own = priorities_[priority];
    double total = 0;
    for (size_t i = 0; i < own.count; ++i) total += share(own, source, i);
    if (own.count <= 1 || !(total > 0)) return 0;
    constexpr double kParts = 1ull << 53;
    const double target = static_cast<double>(random.next() >> 11) / kParts * total;
    double sum = 0;
    for (size_t i = 0; i + 1 < own.count; ++i) {
      sum += share(own, source, i);
      if (target < sum) return i;
    }
    return own.count - 1;
  }
  bool isAllLocal(size_t priority, Source source) const {
    return priorities_[priority].all_local[index(source)].load(std::memory_order_relaxed);
  }

 private:
  using Shares = std::array<std::atomic<double>, kSources>;
  struct Priority {
    explicit Priority(size_t localities)
        : count(localities),
          shares(new Shares[localities]()),
          all_local(new std::atomic<bool>[kSources]()) {}

    size_t count;
    // By locality, and by source.
    std::unique_ptr<Shares[]> shares;
    std::unique_ptr<std::atomic<bool>[]> all_local;
  };

  static size_t index(Source source) { return static_cast<size_t>(source); }
  std::atomic<double>& at(size_t priority, Source source, size_t locality) {
    return priorities_[priority].shares[locality][index(source)];
  }
  static double share(const Priority& priority, Source source, size_t locality) {
    return priority.shares[locality][index(source)].load(std::memory_order_relaxed);
  }

  std::vector<Priority> priorities_;
};

}  // namespace fairlead::upstream
