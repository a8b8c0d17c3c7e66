// Protobuf's wire format, written field by field into a string. Pure.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead::stats::wire {

// Writes to `at`, where there is room for kMaxVarintSize bytes; returns what follows.
constexpr size_t kMaxVarintSize = 10;
inline char* putVarint(char* at, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *at++ = static_cast<char>(value | 0x80);
  *at++ = static_cast<char>(value);
  return at;
}

inline void appendVarint(std::string* out, uint64_t value) {
  char bytes[kMaxVarintSize];
  out->append(bytes, putVarint(bytes, value));
}

constexpr size_t varintSize(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7;
}

inline void appendInteger(std::string* out, uint32_t field, uint64_t value) {
  char bytes[2 * kMaxVarintSize];
  out->append(bytes, putVarint(putVarint(bytes, field << 3), value));
}

// A field of type sint32 or sint64.
inline void appendSigned(std::string* out, uint32_t field, int64_t value) {
  appendInteger(out, field, static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
}

inline char* putFixed64(char* at, uint64_t bits) {
  for (int i = 0; i < 8; ++i, bits >>= 8) *at++ = static_cast<char>(bits);
  return at;
}

inline void appendDouble(std::string* out, uint32_t field, double value) {
  char bytes[kMaxVarintSize + 8];
  out->append(bytes, putFixed64(putVarint(bytes, field << 3 | 1), std::bit_cast<uint64_t>(value)));
}

// What comes before so many bytes of a text or a message.
inline void appendLength(std::string* out, uint32_t field, size_t length) {
  char bytes[2 * kMaxVarintSize];
  out->append(bytes, putVarint(putVarint(bytes, field << 3 | 2), length));
}

// A text, or a message that was written before.
inline void appendBytes(std::string* out, uint32_t field, std::string_view bytes) {
  appendLength(out, field, bytes.size());
  out->append(bytes);
}

}  // namespace fairlead::stats::wire
