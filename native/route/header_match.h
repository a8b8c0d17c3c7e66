// One condition on a request's header: that it is there, what its text is like, in which range its
// number lies. Immutable.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "match/string_matcher.h"
#include "plan/plan.gen.h"
#include "route/request_view.h"

namespace fairlead::route {

class HeaderMatch {
 public:
  static Result<HeaderMatch> build(const plan::HeaderMatch& plan);

  bool matches(const RequestView& request) const;
  // The same of an answer, whose only pseudo header is ":status", or of trailers.
  bool matchesAnswer(const http::HeaderMap& headers, std::string_view status) const;

 private:
  bool matchesAmong(const http::HeaderMap& headers) const;
  bool matchesNothing() const;
  bool fits(std::string_view value) const;

  HeaderName name_;
  bool is_status_ = false;
  plan::HeaderMatch::Kind kind_ = plan::HeaderMatch::Kind::Present;
  bool present_ = true;
  bool invert_ = false;
  bool missing_is_empty_ = false;
  // From start, below end.
  int64_t range_start_ = 0;
  int64_t range_end_ = 0;
  std::optional<match::StringMatcher> matcher_;
};

}  // namespace fairlead::route
