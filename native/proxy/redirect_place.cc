#include "proxy/redirect_place.h"

#include <algorithm>

#include "base/text.h"
#include "http/target.h"

namespace fairlead::proxy {

namespace {

// As the real server's reader of URLs: none has blanks, control characters or bytes beyond ASCII
// anywhere, escaped they may have come.
bool isVisible(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

// Without one, or with one that there is.
bool isPortValid(std::string_view authority) {
  const size_t host_end = authority.starts_with('[') ? authority.find(']') : 0;
  if (host_end == std::string_view::npos) return false;
  const size_t colon = authority.find(':', host_end);
  uint64_t port = 0;
  return colon == std::string_view::npos ||
         (parseDecimal(authority.substr(colon + 1), &port) && port <= UINT16_MAX);
}

}  // namespace

bool readRedirectPlace(std::string_view location, RedirectPlace* place) {
  const size_t colon = location.find("://");
  if (colon == std::string_view::npos || colon == 0 || !isVisible(location)) return false;
  place->is_http = equalsIgnoreCase(location.substr(0, colon), "http");
  location.remove_prefix(colon + 3);
  const size_t end = std::min(location.find_first_of("/?#"), location.size());
  place->authority = location.substr(0, end);
  // Who is asking is no part of whom is asked.
  place->authority.remove_prefix(place->authority.rfind('@') + 1);
  if (place->authority.empty() || !http::isValidAuthority(place->authority) ||
      !isPortValid(place->authority)) {
    return false;
  }
  const std::string_view rest = location.substr(end);
  const std::string_view path = rest.substr(0, rest.find('#'));
  place->path = path.empty() ? "/" : path;
  return true;
}

}  // namespace fairlead::proxy
