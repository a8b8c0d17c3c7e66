// Parameters of a path's query. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fairlead::format {

// The value of the first parameter of that name, with %XX decoded in both. `room` may hold it.
// Nothing: there is none.
std::optional<std::string_view> queryParameter(std::string_view query, std::string_view name,
                                               std::string* room);

}  // namespace fairlead::format
