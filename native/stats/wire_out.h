// Protobuf's wire format, written field by field into a string. Pure.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/varint.h"

namespace fairlead::stats::wire {

inline void appendInteger(std::string* out, uint32_t field, uint64_t value) {
  char bytes[2 * kMostVarintBytes];
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
  char bytes[kMostVarintBytes + 8];
  out->append(bytes, putFixed64(putVarint(bytes, field << 3 | 1), std::bit_cast<uint64_t>(value)));
}

// What comes before so many bytes of a text or a message.
inline void appendLength(std::string* out, uint32_t field, size_t length) {
  char bytes[2 * kMostVarintBytes];
  out->append(bytes, putVarint(putVarint(bytes, field << 3 | 2), length));
}

// A text, or a message that was written before.
inline void appendBytes(std::string* out, uint32_t field, std::string_view bytes) {
  appendLength(out, field, bytes.size());
  out->append(bytes);
}

}  // namespace fairlead::stats::wire
