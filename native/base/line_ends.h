// Texts that somebody else made and that become part of a head. Pure.
#pragma once

#include <algorithm>
#include <string>

namespace fairlead {

// Nothing in it ends a line from here on: such bytes become blanks.
inline void blankLineEnds(std::string* text) {
  std::ranges::replace_if(*text, [](char c) { return c == '\0' || c == '\r' || c == '\n'; }, ' ');
}

}  // namespace fairlead
