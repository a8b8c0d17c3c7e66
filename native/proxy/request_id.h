// Identifiers of requests: random UUIDs (RFC 9562 version 4). Pure but for the generator.
#pragma once

#include <string_view>

#include "base/random.h"

namespace fairlead::proxy {

constexpr size_t kRequestIdBytes = 36;

inline std::string_view writeRequestId(Random& random, char* out) {
  static constexpr char kHex[] = "0123456789abcdef";
  const uint64_t high = random.next();
  const uint64_t low = random.next();
  uint8_t bytes[16];
  for (int i = 0; i < 8; ++i) {
    bytes[i] = static_cast<uint8_t>(high >> (8 * i));
    bytes[8 + i] = static_cast<uint8_t>(low >> (8 * i));
  }
  bytes[6] = static_cast<uint8_t>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<uint8_t>((bytes[8] & 0x3f) | 0x80);
  char* to = out;
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *to++ = '-';
    *to++ = kHex[bytes[i] >> 4];
    *to++ = kHex[bytes[i] & 15];
  }
  return {out, kRequestIdBytes};
}

}  // namespace fairlead::proxy
