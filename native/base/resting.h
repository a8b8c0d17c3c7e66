// What rests between two uses, since making it anew costs more. Taken in the order last-in
// first-out, so that what is taken is in cache, and what nobody needs stays at the bottom: trim()
// ends it. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace fairlead {

template <typename T>
class Resting {
 public:
  // No more than `most` rest at once.
  explicit Resting(size_t most) : most_(most) {}

  // Nothing: none rests.
  std::optional<T> take() {
    if (things_.empty()) return std::nullopt;
    std::optional<T> thing(std::move(things_.back()));
    things_.pop_back();
    least_ = std::min(least_, things_.size());
    return thing;
  }
  // False: enough rest, and `thing` is still the caller's.
  bool give(T& thing) {
    if (things_.size() >= most_) return false;
    things_.push_back(std::move(thing));
    return true;
  }
  // Ends those that nobody took since the previous call; returns how many.
  size_t trim() {
    const size_t count = least_;
    things_.erase(things_.begin(), things_.begin() + static_cast<ptrdiff_t>(count));
    if (count > 0) things_.shrink_to_fit();
    least_ = things_.size();
    return count;
  }
  size_t size() const { return things_.size(); }

 private:
  const size_t most_;
  // The fewest that rested at any moment since the latest trim().
  size_t least_ = 0;
  std::vector<T> things_;
};

}  // namespace fairlead
