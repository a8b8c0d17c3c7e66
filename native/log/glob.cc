#include "log/glob.h"

#include <cstddef>

namespace fairlead::log {

bool matchesGlob(std::string_view pattern, std::string_view name) {
  size_t p = 0;
  size_t n = 0;
  // Behind the last star, and how much of the name it covers up to.
  size_t after_star = std::string_view::npos;
  size_t covered = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      after_star = ++p;
      covered = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (after_star != std::string_view::npos) {
      p = after_star;
      n = ++covered;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace fairlead::log
