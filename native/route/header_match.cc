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
  match.is_status_ = plan.name == ":status";
  match.kind_ = plan.kind;
  match.present_ = plan.present;
  match.invert_ = plan.invert;
  match.missing_is_empty_ = plan.treat_missing_as_empty;
  match.range_start_ = plan.range_start;
  match.range_end_ = plan.range_end;
  if (plan.kind == Kind::String) {
    Result<match::StringMatcher> matcher =
        match::StringMatcher::build(plan.string_match.value_or(plan::StringMatch()));
    if (!matcher) return matcher.error();
    match.matcher_ = std::move(matcher.value());
  }
  return match;
}

bool HeaderMatch::matches(const RequestView& request) const {
  if (!name_.isPseudo()) return matchesAmong(*request.headers);
  std::string_view value;
  return request.header(name_, &value) ? fits(value) != invert_ : matchesNothing();
}

bool HeaderMatch::matchesAnswer(const http::HeaderMap& headers, std::string_view status) const {
  if (!name_.isPseudo()) return matchesAmong(headers);
  return is_status_ && !status.empty() ? fits(status) != invert_ : matchesNothing();
}

bool HeaderMatch::matchesAmong(const http::HeaderMap& headers) const {
  const http::HeaderEntry* entry = name_.find(headers);
  if (!entry) return matchesNothing();
  // Of several headers of one name any may fit; an inverted condition wants that none does.
  bool any = false;
  for (; entry && !any; entry = name_.find(headers, entry)) any = fits(entry->value());
  return any != invert_;
}

// What is not there fits nothing, not even an inverted condition on its value.
bool HeaderMatch::matchesNothing() const {
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
