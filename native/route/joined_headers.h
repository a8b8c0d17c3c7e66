// Headers that the real server keeps in one line: a value that is added joins the one that is there
// by a comma. Others get a line of their own. Pure.
#pragma once

#include <string_view>

namespace fairlead::route {

// Names in lower case.
bool isJoinedInRequests(std::string_view name);
bool isJoinedInResponses(std::string_view name);

}  // namespace fairlead::route
