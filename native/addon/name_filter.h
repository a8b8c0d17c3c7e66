// A filter on names as JavaScript passes it: a program of src/plan/match/regex/regex.ts, searched;
// empty when there is none.
#pragma once

#include <napi.h>

#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "addon/edge.h"
#include "base/regex.h"

namespace fairlead::addon {

using NameFilter = std::function<bool(std::string_view)>;

inline Result<std::optional<Regex>> nameRegexOf(const Napi::Value& value) {
  if (!value.IsTypedArray()) return std::optional<Regex>();
  Result<Regex> regex = Regex::load(bytesOf(value));
  if (!regex) return regex.error();
  return std::optional<Regex>(std::move(regex.value()));
}

inline Result<NameFilter> nameFilterOf(const Napi::Value& value) {
  auto regex = nameRegexOf(value);
  if (!regex) return regex.error();
  if (!regex.value()) return NameFilter();
  return NameFilter([regex = *regex.value()](std::string_view name) { return regex.search(name); });
}

}  // namespace fairlead::addon
