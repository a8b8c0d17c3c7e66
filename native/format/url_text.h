// Texts in queries of URLs. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/base64.h"

namespace fairlead::format {

// Base64 of URLs (RFC 4648 §5), without padding. False: it is none.
inline bool decodeUrlBase64(std::string_view text, std::string* out) {
  std::string plain(text);
  for (char& c : plain) {
    if (c == '+' || c == '/' || c == '=') return false;
    if (c == '-') c = '+';
    if (c == '_') c = '/';
  }
  while (plain.size() % 4 != 0) plain.push_back('=');
  return decodeBase64(plain, out);
}

}  // namespace fairlead::format
