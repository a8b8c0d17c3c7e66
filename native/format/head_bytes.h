// How large heads are: names and values, pseudo headers too. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "format/context.h"

namespace fairlead::format {

inline uint64_t bytesOf(const http::HeaderMap* headers) {
  uint64_t bytes = 0;
  if (!headers) return 0;
  for (const http::HeaderEntry& entry : *headers) {
    if (entry.name_size > 0) bytes += entry.name_size + entry.value_size;
  }
  return bytes;
}

// With the pseudo headers that are not in the map.
inline uint64_t requestBytes(const FormatContext& context) {
  if (!context.request_headers) return 0;
  uint64_t bytes = bytesOf(context.request_headers);
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) bytes += name.size() + value.size();
  };
  add(":method", context.method);
  add(":path", context.path);
  add(":authority", context.authority);
  add(":scheme", context.scheme);
  return bytes;
}

inline uint64_t responseBytes(const FormatContext& context) {
  if (!context.response_headers) return 0;
  return bytesOf(context.response_headers) + std::string_view(":status").size() + 3;
}

}  // namespace fairlead::format
