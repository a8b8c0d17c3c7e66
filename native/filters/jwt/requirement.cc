#include "filters/jwt/requirement.h"

#include <algorithm>

namespace fairlead::filters {

namespace {

std::string_view plainAudience(std::string_view name) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!name.starts_with(scheme)) continue;
    name.remove_prefix(scheme.size());
    break;
  }
  if (name.ends_with('/')) name.remove_suffix(1);
  return name;
}

}  // namespace

JwtAudiences::JwtAudiences(const std::vector<std::string>& names) {
  for (const std::string& name : names) names_.emplace(plainAudience(name));
}

bool JwtAudiences::admits(const std::vector<std::string_view>& names) const {
  if (names_.empty()) return true;
  return std::ranges::any_of(
      names, [&](std::string_view name) { return names_.contains(plainAudience(name)); });
}

std::unique_ptr<const JwtRequirement> JwtRequirement::build(
    const plan::JwtRequirement& plan, const std::vector<plan::JwtProvider>& providers) {
  auto requirement = std::make_unique<JwtRequirement>();
  requirement->kind = plan.kind;
  requirement->status_header = format::HeaderName(plan.status_header);
  for (const uint32_t provider : plan.providers) {
    if (provider >= providers.size()) continue;
    requirement->provider = provider;
    requirement->extractor.add(providers[provider]);
  }
  if (plan.has_audiences) requirement->audiences.emplace(plan.audiences);
  for (const plan::JwtRequirement& part : plan.parts) {
    if (plan.kind == Kind::Any && part.kind == Kind::Missing) {
      requirement->admits_missing = true;
    } else if (plan.kind == Kind::Any && part.kind == Kind::MissingOrFailed) {
      requirement->admits_failed = true;
    } else {
      requirement->parts.push_back(build(part, providers));
    }
  }
  // Nothing else is asked: then they are what is asked.
  if (plan.kind == Kind::Any && requirement->parts.empty() && !plan.parts.empty()) {
    const Kind wanted = requirement->admits_failed ? Kind::MissingOrFailed : Kind::Missing;
    for (const plan::JwtRequirement& part : plan.parts) {
      if (part.kind != wanted) continue;
      requirement->parts.push_back(build(part, providers));
      break;
    }
  }
  return requirement;
}

}  // namespace fairlead::filters
