// Headers that tell this proxy how to forward, where a router checks strictly that they make sense.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "http/message.h"

namespace fairlead::proxy {

// The first of the headers of these names that cannot be understood; null: there is none.
const http::HeaderEntry* findSenseless(const http::HeaderMap& headers,
                                       const std::vector<std::string>& names);

}  // namespace fairlead::proxy
