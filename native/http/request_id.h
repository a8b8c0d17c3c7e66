// Identifiers of requests: random UUIDs (RFC 9562 version 4). Pure but for the generator.
#pragma once

#include <bit>
#include <cstring>
#include <string_view>

#include "base/random.h"

namespace fairlead::http {

constexpr size_t kRequestIdBytes = 36;
// The digit that says why the request is traced; as an id is made, it is not.
constexpr size_t kTraceReasonAt = 14;
constexpr char kNoTraceReason = '4';

// The hexadecimal digits of four bytes, the lowest first, as eight characters of text.
inline uint64_t hexDigits(uint32_t bytes) {
  static_assert(std::endian::native == std::endian::little);
  // A byte to each of four lanes, its digits to the lane's halves, each digit to its character: ten
  // and above get what is between '9' and 'a' besides.
  uint64_t lanes = bytes;
  lanes = (lanes | lanes << 16) & 0x0000ffff0000ffff;
  lanes = (lanes | lanes << 8) & 0x00ff00ff00ff00ff;
  lanes = (lanes >> 4 & 0x000f000f000f000f) | (lanes & 0x000f000f000f000f) << 8;
  const uint64_t letters = (lanes + 0x0606060606060606) >> 4 & 0x0101010101010101;
  return lanes + 0x3030303030303030 + letters * ('a' - '9' - 1);
}

inline std::string_view writeRequestId(Random& random, char* out) {
  // The version is in the seventh byte, the variant in the ninth.
  const uint64_t high = (random.next() & ~(0xf0ULL << 48)) | 0x40ULL << 48;
  const uint64_t low = (random.next() & ~0xc0ULL) | 0x80;
  const auto put = [out](size_t at, uint64_t text, size_t size) {
    std::memcpy(out + at, &text, size);
  };
  const uint64_t second = hexDigits(static_cast<uint32_t>(high >> 32));
  const uint64_t third = hexDigits(static_cast<uint32_t>(low));
  put(0, hexDigits(static_cast<uint32_t>(high)), 8);
  put(9, second, 4);
  put(14, second >> 32, 4);
  put(19, third, 4);
  put(24, third >> 32, 4);
  put(28, hexDigits(static_cast<uint32_t>(low >> 32)), 8);
  out[8] = out[13] = out[18] = out[23] = '-';
  return {out, kRequestIdBytes};
}

}  // namespace fairlead::http
