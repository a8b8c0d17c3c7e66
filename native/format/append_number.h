// Numbers as formats show them. Pure.
#pragma once

#include <charconv>
#include <concepts>
#include <string>

namespace fairlead::format {

template <std::integral Number>
void appendNumber(Number value, std::string* out) {
  char text[24];
  out->append(text, std::to_chars(text, text + sizeof(text), value).ptr);
}

}  // namespace fairlead::format
