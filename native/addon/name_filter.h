// A filter on names as JavaScript passes it: a program of src/plan/match/regex/regex.ts, searched;
// empty when there is none.
#pragma once

#include <napi.h>

#include <functional>
#include <string_view>

#include "addon/edge.h"
#include "base/regex.h"

namespace fairlead::addon {

using NameFilter = std::function<bool(std::string_view)>;

inline Result<NameFilter> nameFilterOf(const Napi::Value& value) {
  NameFilter filter;
  if (!value.IsTypedArray()) return filter;
  Result<Regex> regex = Regex::load(bytesOf(value));
  if (!regex) return regex.error();
  filter = [regex = regex.value()](std::string_view name) { return regex.search(name); };
  return filter;
}

}  // namespace fairlead::addon
