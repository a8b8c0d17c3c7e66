// The conditions of one route: path, headers, query, share. Immutable.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/regex.h"
#include "base/result.h"
#include "plan/plan.gen.h"
#include "route/request_view.h"
#include "route/string_matcher.h"

namespace fairlead::route {

class Match {
 public:
  static Result<Match> build(const plan::RouteMatch& plan);

  // `path` is the request's without query.
  bool matches(const RequestView& request, std::string_view path) const {
    return matchesPath(request, path) && (simple_ || matchesRest(request));
  }

  plan::RouteMatch::PathKind pathKind() const { return kind_; }
  const std::string& path() const { return path_; }
  const std::optional<Regex>& regex() const { return regex_; }
  bool ignoresCase() const { return ignore_case_; }

 private:
  struct Header {
    plan::HeaderMatch plan;
    std::optional<StringMatcher> matcher;
  };
  struct Query {
    std::string name;
    std::optional<StringMatcher> matcher;
  };

  bool matchesPath(const RequestView& request, std::string_view path) const;
  bool matchesRest(const RequestView& request) const;
  static bool matchesHeader(const Header& header, const RequestView& request);
  static bool matchesQuery(const Query& query, std::string_view text);

  plan::RouteMatch::PathKind kind_ = plan::RouteMatch::PathKind::Prefix;
  bool ignore_case_ = false;
  // Nothing but the path is asked.
  bool simple_ = true;
  bool grpc_ = false;
  std::string path_;
  std::optional<Regex> regex_;
  std::vector<Header> headers_;
  std::vector<Query> queries_;
  std::optional<uint32_t> share_millionths_;
};

}  // namespace fairlead::route
