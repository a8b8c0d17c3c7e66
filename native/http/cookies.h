// Cookies of a request's head (RFC 6265 §4.2). Views of the headers. Pure.
#pragma once

#include <algorithm>
#include <string_view>

#include "http/message.h"

namespace fairlead::http {

// Calls `visit` with the name and the value of each until it returns false.
template <typename Visit>
void forEachCookie(const HeaderMap& headers, Visit visit) {
  if (!headers.mayHave({HeaderId::Cookie})) return;
  for (const HeaderEntry& entry : headers) {
    if (entry.id != HeaderId::Cookie) continue;
    std::string_view rest = entry.value();
    while (!rest.empty()) {
      const std::string_view pair = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
      const size_t equals = pair.find('=');
      const size_t start = pair.find_first_not_of(' ');
      if (equals == std::string_view::npos || start > equals) continue;
      std::string_view value = pair.substr(equals + 1);
      if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
        value = value.substr(1, value.size() - 2);
      }
      if (!visit(pair.substr(start, equals - start), value)) return;
    }
  }
}

// The first one of that name; empty: there is none.
inline std::string_view cookieOf(const HeaderMap& headers, std::string_view name) {
  std::string_view found;
  forEachCookie(headers, [&](std::string_view each, std::string_view value) {
    if (each != name) return true;
    found = value;
    return false;
  });
  return found;
}

}  // namespace fairlead::http
