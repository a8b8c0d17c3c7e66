// Bytes that die together. Hands out memory by moving a pointer; reset() takes all of it back and
// keeps the first block, so that the steady state allocates nothing. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "base/stale.h"

namespace fairlead {

class Arena {
 public:
  explicit Arena(size_t block_bytes) : block_bytes_(block_bytes) {}

  char* allocate(size_t bytes) {
    if (bytes > static_cast<size_t>(end_ - next_)) addBlock(bytes);
    char* result = next_;
    next_ += bytes;
    markFresh(result, bytes);
    return result;
  }
  // Gives back the unused tail of the latest allocation.
  void shrink(char* new_end) {
    markStale(new_end, static_cast<size_t>(next_ - new_end));
    next_ = new_end;
  }

  std::string_view copy(std::string_view bytes) {
    char* to = allocate(bytes.size());
    // Nothing may be nowhere.
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
    return {to, bytes.size()};
  }

  std::string_view join(std::string_view a, std::string_view b, std::string_view c = {}) {
    char* to = allocate(a.size() + b.size() + c.size());
    if (!a.empty()) std::memcpy(to, a.data(), a.size());
    if (!b.empty()) std::memcpy(to + a.size(), b.data(), b.size());
    if (!c.empty()) std::memcpy(to + a.size() + b.size(), c.data(), c.size());
    return {to, a.size() + b.size() + c.size()};
  }

  // A number in decimal.
  std::string_view decimal(uint64_t number) {
    char text[20];
    char* at = text + sizeof(text);
    do {
      *--at = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number > 0);
    return copy({at, static_cast<size_t>(text + sizeof(text) - at)});
  }

  void reset() {
    if (blocks_.size() > 1) blocks_.resize(1);
    if (blocks_.empty()) return;
    next_ = blocks_[0].get();
    end_ = next_ + first_bytes_;
    markStale(next_, first_bytes_);
  }

 private:
  void addBlock(size_t at_least) {
    const size_t bytes = at_least > block_bytes_ ? at_least : block_bytes_;
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(bytes));
    if (blocks_.size() == 1) first_bytes_ = bytes;
    next_ = blocks_.back().get();
    end_ = next_ + bytes;
  }

  const size_t block_bytes_;
  size_t first_bytes_ = 0;
  char* next_ = nullptr;
  char* end_ = nullptr;
  std::vector<std::unique_ptr<char[]>> blocks_;
};

}  // namespace fairlead
