// Answers that vary by headers of their requests (RFC 9111 §4.1). Immutable; results are pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/message.h"
#include "match/string_matcher.h"

namespace fairlead::caches {

class VaryRules {
 public:
  static Result<VaryRules> build(const std::vector<plan::StringMatch>& allowed);

  // What an answer varies by is nothing but headers that it may vary by.
  bool allows(const http::HeaderMap& response) const;
  // Tells requests apart that `vary` (all of its values, joined by commas) tells apart. Nothing: it
  // names what may not be varied by.
  std::optional<std::string> variantOf(std::string_view vary, const http::HeaderMap& request) const;

 private:
  bool allowsName(std::string_view name) const;

  std::vector<match::StringMatcher> allowed_;
};

// All values of `vary`, joined; empty: there is none.
std::string varyOf(const http::HeaderMap& response);

}  // namespace fairlead::caches
