// Numbers as protobuf's wire format writes them: seven bits a byte, the lowest first. Pure.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

namespace fairlead {

inline constexpr size_t kMostVarintBytes = 10;

// Writes to `at`, where there is room for kMostVarintBytes; returns what follows.
inline char* putVarint(char* at, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *at++ = static_cast<char>(value | 0x80);
  *at++ = static_cast<char>(value);
  return at;
}
inline void appendVarint(std::string* out, uint64_t value) {
  char bytes[kMostVarintBytes];
  out->append(bytes, putVarint(bytes, value));
}
constexpr size_t varintBytes(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7;
}

}  // namespace fairlead
