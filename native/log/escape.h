// Bytes written so that they harm no reader. Pure.
#pragma once

#include <string>
#include <string_view>

namespace fairlead::log {

// As C would write it: what is not printable ASCII in octal. White space at the end stays.
std::string escapeLine(std::string_view line);

}  // namespace fairlead::log
