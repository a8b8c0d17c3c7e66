// Numbers by index, of which most are 0 and take no room.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fairlead::stats {

class SparseCounts {
 public:
  uint64_t operator[](size_t index) const {
    const auto item = find(index);
    return item != items_.end() && item->index == index ? item->value : 0;
  }
  void set(size_t index, uint64_t value) {
    const auto item = items_.begin() + (find(index) - items_.cbegin());
    if (item != items_.end() && item->index == index) {
      item->value = value;
    } else if (value != 0) {
      items_.insert(item, {static_cast<uint16_t>(index), value});
    }
  }
  void clear() { items_.clear(); }
  bool empty() const { return items_.empty(); }

  // Calls visit(index, value) for those that were ever set.
  template <typename Visit>
  void forEach(Visit visit) const {
    for (const Item& item : items_) visit(size_t{item.index}, item.value);
  }

 private:
  struct Item {
    uint16_t index;
    uint64_t value;
  };
  std::vector<Item>::const_iterator find(size_t index) const {
    return std::lower_bound(items_.begin(), items_.end(), index,
                            [](const Item& item, size_t wanted) { return item.index < wanted; });
  }

  // By index.
  std::vector<Item> items_;
};

}  // namespace fairlead::stats
