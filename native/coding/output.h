// Room for what a library makes, which grows a chunk at a time and is used again. Part of a coder.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace fairlead::coding {

class Output {
 public:
  explicit Output(uint32_t chunk_bytes) : chunk_(std::max<size_t>(chunk_bytes, 512)) {}

  void clear() { size_ = 0; }
  size_t size() const { return size_; }
  std::string_view view() const { return {data_.get(), size_}; }

  // Where more may be written, and how much: at least a byte.
  uint8_t* room() {
    if (size_ == capacity_) grow();
    return reinterpret_cast<uint8_t*>(data_.get() + size_);
  }
  size_t roomBytes() const { return capacity_ - size_; }
  // So much of the room is free still.
  void setLeft(size_t left) { size_ = capacity_ - left; }

  // What one large message needed is not kept.
  void trim() {
    clear();
    if (capacity_ <= kMaxKept) return;
    data_.reset();
    capacity_ = 0;
  }

 private:
  static constexpr size_t kMaxKept = 64 * 1024;

  void grow() {
    const size_t capacity = std::max(capacity_ + chunk_, capacity_ * 2);
    auto data = std::make_unique_for_overwrite<char[]>(capacity);
    if (size_ > 0) std::memcpy(data.get(), data_.get(), size_);
    data_ = std::move(data);
    capacity_ = capacity;
  }

  const size_t chunk_;
  std::unique_ptr<char[]> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace fairlead::coding
