// What a rule of jwt_authn requires of a request: one provider's token, or several, or any.
// Immutable; any thread.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "filters/jwt/extractor.h"
#include "format/header_name.h"
#include "plan/plan.gen.h"

namespace fairlead::filters {

// Those for whom a token may be. Schemes and a last slash do not count.
class JwtAudiences {
 public:
  explicit JwtAudiences(const std::vector<std::string>& names);

  // Whether any of them is; where nobody in particular is wanted, all are.
  bool admits(const std::vector<std::string_view>& names) const;

 private:
  std::set<std::string, std::less<>> names_;
};

struct JwtRequirement {
  using Kind = plan::JwtRequirement::Kind;

  static std::unique_ptr<const JwtRequirement> build(
      const plan::JwtRequirement& plan, const std::vector<plan::JwtProvider>& providers);

  Kind kind = Kind::None;
  // Of one provider: its place.
  size_t provider = 0;
  // In place of the provider's.
  std::optional<JwtAudiences> audiences;
  JwtExtractor extractor;
  std::vector<std::unique_ptr<const JwtRequirement>> parts;
  // Of ANY: what will do where no part is met.
  bool admits_missing = false;
  bool admits_failed = false;
  // Of EXTRACT_ONLY.
  format::HeaderName status_header;
};

}  // namespace fairlead::filters
