// One way to compare a text: exact, prefix, suffix, contains, regular expression. Immutable.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/regex.h"
#include "base/result.h"
#include "plan/plan.gen.h"

namespace fairlead::match {

class StringMatcher {
 public:
  static Result<StringMatcher> build(const plan::StringMatch& plan);
  bool matches(std::string_view text) const;

 private:
  plan::StringMatch::Kind kind_ = plan::StringMatch::Kind::Exact;
  // In lower case when the case is ignored.
  std::string value_;
  bool ignore_case_ = false;
  std::optional<Regex> regex_;
};

}  // namespace fairlead::match
