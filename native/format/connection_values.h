// Values that listener filters left with a connection, as formats show them.
#pragma once

#include <string>
#include <string_view>

#include "net/findings.h"

namespace fairlead::format {

// Appends the value of that key; with an empty key all of them, as JSON. False: there is none. The
// client chose these bytes: what would end a line or a header becomes a blank.
bool appendConnectionValue(const net::Findings::Values* values, std::string_view key,
                           std::string* out);

inline const net::Findings::Values* valuesOf(const net::Findings::Metadata* metadata,
                                             std::string_view space) {
  if (!metadata) return nullptr;
  const auto found = metadata->find(space);
  return found == metadata->end() ? nullptr : &found->second;
}

}  // namespace fairlead::format
