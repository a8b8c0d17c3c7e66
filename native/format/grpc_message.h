// What gRPC says of a call beside its messages. Pure.
#pragma once

#include <string>
#include <string_view>

namespace fairlead::format {

// What a grpc-message may not have bare (the gRPC protocol's percent-encoding).
inline std::string percentEncoded(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string result;
  for (const char c : text) {
    if (c >= ' ' && c <= '~' && c != '%') {
      result.push_back(c);
    } else {
      result.push_back('%');
      result.push_back(kHex[static_cast<unsigned char>(c) >> 4]);
      result.push_back(kHex[c & 15]);
    }
  }
  return result;
}

}  // namespace fairlead::format
