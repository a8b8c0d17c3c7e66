// Protobuf's wire format, written field by field into a string. Pure.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead::stats::wire {

inline void appendVarint(std::string* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

constexpr size_t varintSize(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7;
}

inline void appendInteger(std::string* out, uint32_t field, uint64_t value) {
  appendVarint(out, field << 3);
  appendVarint(out, value);
}

// A field of type sint32 or sint64.
inline void appendSigned(std::string* out, uint32_t field, int64_t value) {
  appendInteger(out, field, static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
}

inline void appendDouble(std::string* out, uint32_t field, double value) {
  appendVarint(out, field << 3 | 1);
  for (uint64_t bits = std::bit_cast<uint64_t>(value), i = 0; i < 8; ++i, bits >>= 8) {
    out->push_back(static_cast<char>(bits));
  }
}

// A text, or a message that was written before.
inline void appendBytes(std::string* out, uint32_t field, std::string_view bytes) {
  appendVarint(out, field << 3 | 2);
  appendVarint(out, bytes.size());
  out->append(bytes);
}

}  // namespace fairlead::stats::wire
