#include "route/cookies.h"

#include <algorithm>

namespace fairlead::route {

std::optional<std::string_view> findCookie(const http::HeaderMap& headers, std::string_view name) {
  for (const http::HeaderEntry& entry : headers) {
    if (entry.name() != "cookie") continue;
    std::string_view rest = entry.value();
    while (!rest.empty()) {
      const std::string_view pair = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
      const size_t equals = pair.find('=');
      const size_t start = pair.find_first_not_of(' ');
      if (equals == std::string_view::npos || start > equals) continue;
      if (pair.substr(start, equals - start) != name) continue;
      std::string_view value = pair.substr(equals + 1);
      if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
        value = value.substr(1, value.size() - 2);
      }
      return value;
    }
  }
  return std::nullopt;
}

}  // namespace fairlead::route
