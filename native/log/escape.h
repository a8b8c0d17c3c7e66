// Two ways to write bytes so that they harm no reader. Pure.
#pragma once

#include <string>
#include <string_view>

namespace fairlead::log {

// As C would write it: what is not printable ASCII in octal. White space at the end stays.
std::string escapeLine(std::string_view line);

// The inside of a JSON string; bytes above 0x1f stay, whatever they are.
void appendJsonEscaped(std::string_view text, std::string* out);

}  // namespace fairlead::log
