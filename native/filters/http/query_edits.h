// Changes of a path's query, as services ask for them. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arena.h"

namespace fairlead::filters {

// The path with these parameters set and those removed, in the arena.
std::string_view editQuery(std::string_view path,
                           const std::vector<std::pair<std::string, std::string>>& set,
                           const std::vector<std::string>& remove, Arena& arena);
// Whether it may stand in a query as it is.
bool isQueryText(std::string_view text);

}  // namespace fairlead::filters
