#include "proxy/redirect_place.h"

#include <algorithm>

#include "base/text.h"
#include "http/target.h"

namespace fairlead::proxy {

bool readRedirectPlace(std::string_view location, RedirectPlace* place, Arena& arena) {
  const size_t colon = location.find("://");
  if (colon == std::string_view::npos || colon == 0) return false;
  place->is_http = equalsIgnoreCase(location.substr(0, colon), "http");
  location.remove_prefix(colon + 3);
  const size_t end = std::min(location.find_first_of("/?#"), location.size());
  place->authority = location.substr(0, end);
  if (place->authority.empty() || !http::isValidAuthority(place->authority)) return false;
  const std::string_view rest = location.substr(end);
  const std::string_view path = rest.substr(0, rest.find('#'));
  place->path = path.starts_with('/') ? path : arena.join("/", path);
  return true;
}

}  // namespace fairlead::proxy
