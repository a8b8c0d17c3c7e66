// Numbers as text, and back. Pure.
#pragma once

#include <string>
#include <string_view>

namespace fairlead::transcoder {

// The shortest of 15 or 17 digits, or of 6 or 9, that reads as the same number again; "Infinity",
// "-Infinity", "NaN".
std::string numberText(double value);
std::string numberText(float value);

// A decimal number, whole. Infinite where it is too large. False: it is none.
bool parseNumber(std::string_view text, double* value);

}  // namespace fairlead::transcoder
