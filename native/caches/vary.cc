#include "caches/vary.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace fairlead::caches {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;

Result<VaryRules> VaryRules::build(const std::vector<plan::StringMatch>& allowed) {
  VaryRules rules;
  for (const plan::StringMatch& plan : allowed) {
    auto matcher = match::StringMatcher::build(plan);
    if (!matcher) return matcher.error();
    rules.allowed_.push_back(std::move(matcher.value()));
  }
  return rules;
}

bool VaryRules::allowsName(std::string_view name) const {
  return std::ranges::any_of(
      allowed_, [name](const match::StringMatcher& matcher) { return matcher.matches(name); });
}

bool VaryRules::allows(const HeaderMap& response) const {
  bool allowed = true;
  for (const HeaderEntry& entry : response) {
    if (entry.id != HeaderId::Vary) continue;
    forEachToken(entry.value(), [&](std::string_view name) {
      if (!name.empty() && (name == "*" || !allowsName(name))) allowed = false;
      return allowed;
    });
  }
  return allowed;
}

std::optional<std::string> VaryRules::variantOf(std::string_view vary,
                                                const HeaderMap& request) const {
  std::vector<std::string> names;
  bool allowed = true;
  forEachToken(vary, [&](std::string_view name) {
    if (name.empty()) return true;
    if (name == "*" || !allowsName(name)) allowed = false;
    std::string& lower = names.emplace_back();
    for (const char c : name) lower.push_back(lowerAscii(c));
    return allowed;
  });
  if (!allowed) return std::nullopt;
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  // Neither of the two can be part of a name or a value.
  std::string variant;
  for (const std::string& name : names) {
    variant.append(name);
    for (const HeaderEntry& entry : request) {
      if (entry.name() == name) variant.append("\r").append(entry.value());
    }
    variant.append("\n");
  }
  return variant;
}

std::string varyOf(const HeaderMap& response) {
  std::string all;
  if (!response.mayHave({HeaderId::Vary})) return all;
  for (const HeaderEntry& entry : response) {
    if (entry.id != HeaderId::Vary || entry.value().empty()) continue;
    if (!all.empty()) all.push_back(',');
    all.append(entry.value());
  }
  return all;
}

}  // namespace fairlead::caches
