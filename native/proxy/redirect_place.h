// Where a redirect leads that is followed here. Pure.
#pragma once

#include <string_view>

#include "base/arena.h"

namespace fairlead::proxy {

struct RedirectPlace {
  bool is_http = true;
  std::string_view authority;
  // With its query, without a fragment.
  std::string_view path;
};

// "scheme://host/path"; anything else is nothing that can be gone to. A path that is missing lives
// in the arena.
bool readRedirectPlace(std::string_view location, RedirectPlace* place, Arena& arena);

}  // namespace fairlead::proxy
