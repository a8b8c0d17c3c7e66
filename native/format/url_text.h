// Texts in queries of URLs. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/base64.h"
#include "base/hex.h"

namespace fairlead::format {

// Percent-decoded; what is no escape stays.
inline void appendUrlDecoded(std::string_view text, std::string* out) {
  for (size_t i = 0; i < text.size(); ++i) {
    const bool has_digits = text[i] == '%' && i + 2 < text.size();
    const int high = has_digits ? hexValue(text[i + 1]) : -1;
    const int low = has_digits ? hexValue(text[i + 2]) : -1;
    const bool is_escape = high >= 0 && low >= 0;
    out->push_back(is_escape ? static_cast<char>(high << 4 | low) : text[i]);
    if (is_escape) i += 2;
  }
}

inline std::string decodeUrlText(std::string_view text) {
  std::string result;
  appendUrlDecoded(text, &result);
  return result;
}

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
