// Names of files by pattern: '*' is any number of characters, '?' is one. Pure.
#pragma once

#include <string_view>

namespace fairlead::log {

// In time |pattern| × |name| at most.
bool matchesGlob(std::string_view pattern, std::string_view name);

}  // namespace fairlead::log
