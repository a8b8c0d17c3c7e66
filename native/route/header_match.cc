#include "route/header_match.h"

#include <charconv>
#include <string>

#include "base/text.h"

namespace fairlead::route {

using Kind = plan::HeaderMatch::Kind;

namespace {

// Blanks around it and a plus before it do no harm.
bool parseNumber(std::string_view text, int64_t* number) {
  text = trimmed(text);
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return false;
  }
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && at == end;
}

}  // namespace

Result<HeaderMatch> HeaderMatch::build(const plan::HeaderMatch& plan) {
  HeaderMatch match;
  match.name_ = HeaderName(plan.name);
  match.kind_ = plan.kind;
  match.present_ = plan.present;
  match.invert_ = plan.invert;
  match.missing_is_empty_ = plan.treat_missing_as_empty;
  match.range_start_ = plan.range_start;
  match.range_end_ = plan.range_end;
  if (plan.kind == Kind::String) {
    Result<StringMatcher> matcher =
        StringMatcher::build(plan.string_match.value_or(plan::StringMatch()));
    if (!matcher) return matcher.error();
    match.matcher_ = std::move(matcher.value());
  }
  return match;
}

bool HeaderMatch::matches(const RequestView& request) const {
  if (name_.isPseudo()) {
    std::string_view value;
    if (request.header(name_, &value)) return fits(value) != invert_;
  } else if (const http::HeaderEntry* entry = name_.find(*request.headers)) {
    // Of several headers of one name any may fit; an inverted condition wants that none does.
    bool any = false;
    for (; entry && !any; entry = name_.find(*request.headers, entry)) any = fits(entry->value());
    return any != invert_;
  }
  // What is not there fits nothing, not even an inverted condition on its value.
  if (!missing_is_empty_) return kind_ == Kind::Present && present_ == invert_;
  return fits({}) != invert_;
}

bool HeaderMatch::fits(std::string_view value) const {
  switch (kind_) {
    case Kind::Present:
      return present_;
    case Kind::String:
      return matcher_->matches(value);
    case Kind::Range: {
      int64_t number = 0;
      return parseNumber(value, &number) && number >= range_start_ && number < range_end_;
    }
  }
  return false;
}

}  // namespace fairlead::route
