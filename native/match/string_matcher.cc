#include "match/string_matcher.h"

#include "base/text.h"

namespace fairlead::match {

namespace {

bool containsIgnoreCase(std::string_view text, std::string_view part) {
  for (size_t i = 0; i + part.size() <= text.size(); ++i) {
    if (equalsIgnoreCase(text.substr(i, part.size()), part)) return true;
  }
  return false;
}

}  // namespace

Result<StringMatcher> StringMatcher::build(const plan::StringMatch& plan) {
  StringMatcher matcher;
  matcher.kind_ = plan.kind;
  matcher.value_ = plan.value;
  matcher.ignore_case_ = plan.ignore_case;
  if (plan.kind == plan::StringMatch::Kind::Regex) {
    Result<Regex> regex = Regex::load(plan.regex ? plan.regex->program : std::string());
    if (!regex) return regex.error();
    matcher.regex_ = std::move(regex.value());
  }
  return matcher;
}

bool StringMatcher::matches(std::string_view text) const {
  using Kind = plan::StringMatch::Kind;
  const auto equal = [this](std::string_view a) {
    return ignore_case_ ? equalsIgnoreCase(a, value_) : a == value_;
  };
  const size_t size = value_.size();
  switch (kind_) {
    case Kind::Exact:
      return equal(text);
    case Kind::Prefix:
      return text.size() >= size && equal(text.substr(0, size));
    case Kind::Suffix:
      return text.size() >= size && equal(text.substr(text.size() - size));
    case Kind::Contains:
      return ignore_case_ ? containsIgnoreCase(text, value_)
                          : text.find(value_) != std::string_view::npos;
    case Kind::Regex:
      return regex_->fullMatch(text);
  }
  return false;
}

}  // namespace fairlead::match
