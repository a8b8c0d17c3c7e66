// What answers must have in them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fairlead::health {

// All of them, in this order; other bytes may be between.
inline bool hasAll(std::string_view bytes, const std::vector<std::string>& parts) {
  size_t from = 0;
  for (const std::string& part : parts) {
    const size_t found = bytes.find(part, from);
    if (found == std::string_view::npos) return false;
    from = found + part.size();
  }
  return true;
}

}  // namespace fairlead::health
