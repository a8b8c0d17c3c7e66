// Earliest deadline first: picks entries in proportion to their weights, as evenly as can be.
// A binary heap; one thread.
#pragma once

#include <cstdint>
#include <vector>

namespace fairlead::upstream {

class EdfSchedule {
 public:
  void clear() {
    heap_.clear();
    now_ = 0;
    order_ = 0;
  }
  bool empty() const { return heap_.empty(); }
  // `weight` > 0.
  void add(uint32_t entry, double weight) {
    heap_.push_back({now_ + 1.0 / weight, order_++, entry});
    up(heap_.size() - 1);
  }
  // The entry whose turn it is. The caller adds it again with its present weight.
  uint32_t take() {
    const Item item = heap_.front();
    now_ = item.deadline;
    heap_.front() = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) down(0);
    return item.entry;
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

  void up(size_t at) {
    while (at > 0) {
      const size_t parent = (at - 1) / 2;
      if (!heap_[at].before(heap_[parent])) return;
      std::swap(heap_[at], heap_[parent]);
      at = parent;
    }
  }
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
