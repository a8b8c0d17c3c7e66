// Where a redirect leads that is followed here. Pure.
#pragma once

#include <string_view>

namespace fairlead::proxy {

struct RedirectPlace {
  bool is_http = true;
  std::string_view authority;
  // With its query, without a fragment. A query alone, which no route matches, is as it is.
  std::string_view path;
};

// "scheme://host/path"; anything else is nothing that can be gone to. Views into the location.
bool readRedirectPlace(std::string_view location, RedirectPlace* place);

}  // namespace fairlead::proxy
