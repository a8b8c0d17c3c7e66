#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace fairlead {

// Whether the text is well-formed UTF-8 (RFC 3629). Pure.
inline bool isUtf8(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto byte = [&](int i) { return static_cast<uint8_t>(at[i]); };
  const auto follows = [&](int i) { return at + i < end && (byte(i) & 0xc0) == 0x80; };
  while (at < end) {
    uint64_t eight;
    if (end - at >= 8 && (std::memcpy(&eight, at, 8), (eight & 0x8080808080808080) == 0)) {
      at += 8;
    } else if (byte(0) < 0x80) {
      at += 1;
    } else if (byte(0) >= 0xc2 && byte(0) < 0xe0) {
      if (!follows(1)) return false;
      at += 2;
    } else if (byte(0) >= 0xe0 && byte(0) < 0xf0) {
      if (!follows(1) || !follows(2)) return false;
      // Shorter forms, and halves of pairs.
      if (byte(0) == 0xe0 && byte(1) < 0xa0) return false;
      if (byte(0) == 0xed && byte(1) >= 0xa0) return false;
      at += 3;
    } else if (byte(0) >= 0xf0 && byte(0) < 0xf5) {
      if (!follows(1) || !follows(2) || !follows(3)) return false;
      if (byte(0) == 0xf0 && byte(1) < 0x90) return false;
      if (byte(0) == 0xf4 && byte(1) >= 0x90) return false;
      at += 4;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace fairlead
