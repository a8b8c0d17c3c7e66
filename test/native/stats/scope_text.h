// A scope in one line: "<prefix> <metric prefix> [!]label=value …"; "!" marks those before the
// fixed.
#pragma once

#include <string>

#include "stats/block.h"

namespace fairlead::stats {

inline std::string shown(const Scope& scope) {
  std::string text = scope.prefix + " " + scope.metric_prefix;
  for (const auto& [name, value] : scope.first_labels) text += " !" + name + "=" + value;
  for (const auto& [name, value] : scope.labels) text += " " + name + "=" + value;
  return text;
}

}  // namespace fairlead::stats
