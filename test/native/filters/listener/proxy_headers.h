// Headers of the PROXY protocol, version 2, as tests need them.
#pragma once

#include <string>
#include <string_view>

namespace fairlead::test {

// From 1.2.3.4:1111 to 5.6.7.8:2222, and from [2001:db8::1]:1111 to [2001:db8::2]:2222.
inline constexpr std::string_view kIpv4Pair("\1\2\3\4\5\6\7\10\4\x57\x08\xae", 12);
inline constexpr std::string_view kIpv6Pair(
    "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\2\4\x57\x08"
    "\xae",
    36);

inline std::string big16(size_t value) {
  return {static_cast<char>(value >> 8), static_cast<char>(value)};
}

inline std::string proxyV2(uint8_t version_and_command, uint8_t family_and_transport,
                           std::string_view rest) {
  std::string header("\r\n\r\n\0\r\nQUIT\n", 12);
  header.push_back(static_cast<char>(version_and_command));
  header.push_back(static_cast<char>(family_and_transport));
  return header + big16(rest.size()) + std::string(rest);
}

inline std::string tlv(uint8_t type, std::string_view value) {
  return std::string(1, static_cast<char>(type)) + big16(value.size()) + std::string(value);
}

}  // namespace fairlead::test
