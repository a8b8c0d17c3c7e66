// The conditions of one route: path, headers, query, share. Immutable.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/regex.h"
#include "base/result.h"
#include "base/runtime_slots.h"
#include "match/metadata_condition.h"
#include "match/string_matcher.h"
#include "net/address.h"
#include "plan/plan.gen.h"
#include "route/header_match.h"
#include "route/request_view.h"

namespace fairlead::route {

class Match {
 public:
  using PathKind = plan::RouteMatch::PathKind;

  static Result<Match> build(const plan::RouteMatch& plan, RuntimeSlots* slots = nullptr);

  // `path` is the request's without query.
  bool matches(const RequestView& request, std::string_view path) const {
    return matchesPath(request, path) && (asksPathOnly() || matchesRest(request));
  }
  bool matchesPath(const RequestView& request, std::string_view path) const;
  // Everything but the path.
  bool matchesRest(const RequestView& request) const;
  bool asksPathOnly() const { return path_only_; }

  PathKind pathKind() const { return kind_; }
  const std::string& path() const { return path_; }
  bool ignoresCase() const { return ignore_case_; }

 private:
  struct Query {
    std::string name;
    // Absent: any value will do.
    std::optional<match::StringMatcher> matcher;
    bool is_absent = false;
  };
  struct Cookie {
    std::string name;
    match::StringMatcher matcher;
    bool inverts;
  };
  struct State {
    std::string key;
    // Absent: an address is asked for, and filters here keep texts alone: it fits nothing.
    std::optional<match::StringMatcher> matcher;
  };
  // What few routes ask.
  struct Rare {
    std::vector<Cookie> cookies;
    std::vector<match::MetadataCondition> metadata;
    std::vector<State> states;
  };

  static Result<std::unique_ptr<const Rare>> buildRare(const plan::RouteMatch& plan);
  bool matchesCertificate(const net::TlsInfo* tls) const;
  bool matchesRare(const RequestView& request) const;
  static bool matchesQuery(const Query& query, std::string_view text);

  PathKind kind_ = PathKind::Prefix;
  bool ignore_case_ = false;
  bool path_only_ = true;
  bool grpc_ = false;
  std::string path_;
  std::optional<Regex> regex_;
  std::vector<HeaderMatch> headers_;
  std::vector<Query> queries_;
  std::optional<RuntimeNumber> share_millionths_;
  std::optional<bool> certificate_presented_;
  std::optional<bool> certificate_validated_;
  // Null: none of it is asked.
  std::unique_ptr<const Rare> rare_;
};

}  // namespace fairlead::route
