// Numbers that requests ask for faults with. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace fairlead::filters {

// A whole number of at most `most`. Anything else is as though the header was not there.
inline std::optional<uint64_t> faultNumber(std::string_view text, uint64_t most) {
  uint64_t number = 0;
  if (!parseSpokenNumber(text, &number) || number > most) return std::nullopt;
  return number;
}

}  // namespace fairlead::filters
