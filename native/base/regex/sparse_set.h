// A set of small numbers in the order of insertion, emptied in O(1) (Briggs and Torczon).
#pragma once

#include <cstdint>
#include <vector>

namespace fairlead::regex {

class SparseSet {
 public:
  // Room for 0 to count - 1; empties it.
  void reset(size_t count) {
    if (dense_.size() < count) {
      dense_.resize(count);
      sparse_.resize(count);
    }
    size_ = 0;
  }
  void clear() { size_ = 0; }

  bool contains(uint32_t value) const {
    return sparse_[value] < size_ && dense_[sparse_[value]] == value;
  }
  // False: it was there.
  bool insert(uint32_t value) {
    if (contains(value)) return false;
    sparse_[value] = size_;
    dense_[size_++] = value;
    return true;
  }
  uint32_t size() const { return size_; }
  uint32_t operator[](uint32_t position) const { return dense_[position]; }
  const uint32_t* begin() const { return dense_.data(); }
  const uint32_t* end() const { return dense_.data() + size_; }

 private:
  std::vector<uint32_t> dense_;
  std::vector<uint32_t> sparse_;
  uint32_t size_ = 0;
};

}  // namespace fairlead::regex
