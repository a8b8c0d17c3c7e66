#include "http/header_syntax.h"

namespace fairlead::http {

std::optional<std::string> brokenHeader(std::string_view method, std::string_view path,
                                        std::string_view authority, const HeaderMap& headers) {
  const auto badValueOf = [](std::string_view name) {
    return "invalid header value for: " + std::string(name);
  };
  if (!isToken(method)) return badValueOf(":method");
  if (!isWord(path)) return badValueOf(":path");
  if (!isWord(authority)) return badValueOf(":authority");
  for (const HeaderEntry& entry : headers) {
    if (entry.name_size == 0) continue;
    if (entry.id == HeaderId::Other && !isHeaderName(entry.name()))
      return "invalid header name: " + std::string(entry.name());
    if (!isHeaderValue(entry.value())) return badValueOf(entry.name());
  }
  return std::nullopt;
}

}  // namespace fairlead::http
