// Earliest deadline first: picks entries in proportion to their weights, as evenly as can be.
// A binary heap; one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/random.h"

namespace fairlead::upstream {

class EdfSchedule {
 public:
  bool empty() const { return heap_.empty(); }
  // In place of all others, as they might stand at any later time. Weights of 0 have no turn.
  template <typename WeightOf>
  void begin(uint32_t entries, Random& random, WeightOf&& weightOf) {
    constexpr uint64_t kParts = uint64_t{1} << 52;
    heap_.clear();
    heap_.reserve(entries);
    for (uint32_t entry = 0; entry < entries; ++entry) {
      const double weight = weightOf(entry);
      if (weight <= 0) continue;
      const double part = static_cast<double>(random.below(kParts) + 1) / kParts;
      heap_.push_back({now_ + part / weight, order_++, entry});
    }
    std::make_heap(heap_.begin(), heap_.end(),
                   [](const Item& a, const Item& b) { return b.before(a); });
  }
  // The entry whose turn it is, which has its next turn by the weight that it has by then.
  template <typename WeightOf>
  uint32_t next(WeightOf&& weightOf) {
    Item& first = heap_.front();
    const uint32_t entry = first.entry;
    now_ = first.deadline;
    first = {now_ + 1.0 / weightOf(entry), order_++, entry};
    down(0);
    return entry;
  }

 private:
  struct Item {
    double deadline;
    uint64_t order;  // Equal deadlines go in order of addition.
    uint32_t entry;
    bool before(const Item& other) const {
      return deadline != other.deadline ? deadline < other.deadline : order < other.order;
    }
  };

  void down(size_t at) {
    for (;;) {
      size_t least = at;
      for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < heap_.size(); ++child) {
        if (heap_[child].before(heap_[least])) least = child;
      }
      if (least == at) return;
      std::swap(heap_[at], heap_[least]);
      at = least;
    }
  }

  std::vector<Item> heap_;
  double now_ = 0;
  uint64_t order_ = 0;
};

}  // namespace fairlead::upstream
