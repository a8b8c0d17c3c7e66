// Numbers and headers as those who trace write them. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/hex.h"
#include "http/message.h"

namespace fairlead::tracing {

constexpr size_t kHexDigits = 16;

// Sixteen digits, in lower case.
inline void appendHex(uint64_t value, std::string* out) {
  for (int shift = 60; shift >= 0; shift -= 4)
    out->push_back("0123456789abcdef"[value >> shift & 15]);
}

// All of a text of one to sixteen digits. False: it is none.
inline bool readHex(std::string_view text, uint64_t* value) {
  if (text.empty() || text.size() > kHexDigits) return false;
  *value = 0;
  for (const char c : text) {
    const int digit = hexValue(c);
    if (digit < 0) return false;
    *value = *value << 4 | static_cast<uint64_t>(digit);
  }
  return true;
}

// The first of that name; null: there is none.
inline const std::string_view* findValue(const http::HeaderMap& headers, std::string_view name,
                                         std::string_view* value) {
  const http::HeaderEntry* const entry = headers.find(name);
  if (!entry) return nullptr;
  *value = entry->value();
  return value;
}

// In the place of all headers of that name, whose letters live as long as the program.
inline void setHeader(http::HeaderMap& headers, std::string_view name, std::string_view value) {
  bool is_set = false;
  for (http::HeaderEntry& entry : headers) {
    if (entry.name() != name) continue;
    if (is_set) {
      entry.remove();
    } else {
      entry.setValue(value);
    }
    is_set = true;
  }
  if (!is_set) headers.add(http::HeaderId::Other, name, value);
}

}  // namespace fairlead::tracing
