// What may stand in a field of a head (RFC 9110 §5): a token as its name, no control characters in
// its value. Pure; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/byte_scan.h"
#include "http/message.h"

namespace fairlead::http {

// A scan of whole groups of bytes only reads, though it may hand out what may be written.
inline char* beginOf(std::string_view text) { return const_cast<char*>(text.data()); }

inline bool isToken(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, isTokenByte);
}
// A leading colon is that of a pseudo header.
inline bool isHeaderName(std::string_view name) {
  if (name.starts_with(':')) name.remove_prefix(1);
  return isToken(name);
}
inline bool isHeaderValue(std::string_view value) {
  const char* const end = value.data() + value.size();
  return WidestBytes::skipValue(beginOf(value), end) == end;
}
// As a value, but without the blanks that would end a request's target before its time.
inline bool isWord(std::string_view text) {
  const char* const end = text.data() + text.size();
  // Stops at bytes from 0x80 on, which it may have.
  for (const char* at = WidestBytes::skipTarget(beginOf(text), end); at < end; ++at) {
    const auto byte = static_cast<uint8_t>(*at);
    if (byte <= 0x20 || byte == 0x7f) return false;
  }
  return true;
}

// Why no host may be sent such a head, which its route or filters have changed, as clients are
// told; nothing: it may.
std::optional<std::string> brokenHeader(std::string_view method, std::string_view path,
                                        std::string_view authority, const HeaderMap& headers);

}  // namespace fairlead::http
