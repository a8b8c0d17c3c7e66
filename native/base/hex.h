// Numbers and bytes as hexadecimal digits. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead {

// Of a digit of hexadecimal numbers, in either case; -1: it is none.
inline int hexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Two digits, in lower case.
inline void appendHex(std::string* out, char byte) {
  constexpr char kDigits[] = "0123456789abcdef";
  out->push_back(kDigits[static_cast<uint8_t>(byte) >> 4]);
  out->push_back(kDigits[static_cast<uint8_t>(byte) & 15]);
}

// Two digits, in upper case, as escapes in URLs have them.
inline void appendUpperHex(std::string* out, char byte) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  out->push_back(kDigits[static_cast<uint8_t>(byte) >> 4]);
  out->push_back(kDigits[static_cast<uint8_t>(byte) & 15]);
}

// In lower case.
inline std::string hexOf(std::string_view bytes) {
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const char byte : bytes) appendHex(&hex, byte);
  return hex;
}

}  // namespace fairlead
