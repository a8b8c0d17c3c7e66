// The `range` of a request, of what is stored (RFC 9110 §14). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fairlead::caches {

struct ByteRange {
  uint64_t begin = 0;
  // One behind the last.
  uint64_t end = 0;

  uint64_t size() const { return end - begin; }
  // There is nothing in it: 416.
  bool isEmpty() const { return begin == end; }
};

// Nothing: all of it is wanted, or what is wanted makes no sense, or is several ranges.
std::optional<ByteRange> rangeOf(std::string_view header, uint64_t body_bytes);

}  // namespace fairlead::caches
