// Numbers that requests ask for faults with. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace fairlead::filters {

// A whole number of at most `most`: decimal digits, of which blanks around them and a plus before
// them are no part. Anything else is as though the header was not there.
inline std::optional<uint64_t> faultNumber(std::string_view text, uint64_t most) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  uint64_t number = 0;
  if (!parseDecimal(text, &number) || number > most) return std::nullopt;
  return number;
}

}  // namespace fairlead::filters
