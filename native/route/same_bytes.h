// Compares short texts of one length by words that overlap at the end; beats a call of memcmp().
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fairlead::route {

template <typename Word>
bool sameWord(const char* a, const char* b) {
  Word x, y;
  std::memcpy(&x, a, sizeof(Word));
  std::memcpy(&y, b, sizeof(Word));
  return x == y;
}

// `size` is not 0.
inline bool sameBytes(const char* a, const char* b, size_t size) {
  if (size >= 8) {
    for (size_t at = 0; at + 8 < size; at += 8) {
      if (!sameWord<uint64_t>(a + at, b + at)) return false;
    }
    return sameWord<uint64_t>(a + size - 8, b + size - 8);
  }
  if (size >= 4) {
    return sameWord<uint32_t>(a, b) && sameWord<uint32_t>(a + size - 4, b + size - 4);
  }
  return a[0] == b[0] && a[size / 2] == b[size / 2] && a[size - 1] == b[size - 1];
}

}  // namespace fairlead::route
