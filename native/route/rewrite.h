// Paths and hosts that are made from what came. Immutable; results live in the caller's arena, or
// as long as the table.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "base/regex.h"
#include "base/result.h"
#include "format/format.h"
#include "plan/plan.gen.h"
#include "route/match.h"

namespace fairlead::route {

struct Rewrite {
  using Kind = plan::PathRewrite::Kind;

  Kind kind = Kind::None;
  // What stands in for a prefix or the path; for a regular expression, RE2's rewrite.
  std::string value;
  std::optional<Regex> regex;
  std::unique_ptr<const format::Format> format;

  static Result<Rewrite> build(const plan::PathRewrite& plan);
  // The new path with its query, or `path` itself, the same bytes in the same place, where it
  // stays. `match` took the path: a prefix is what it matched of it.
  std::string_view apply(const RequestView& request, std::string_view path, const Match& match,
                         Arena& arena) const;
};

struct HostRewrite {
  using Kind = plan::HostRewrite::Kind;

  Kind kind = Kind::None;
  // The host.
  std::string value;
  // Names it.
  HeaderName header;
  std::optional<Regex> regex;
  // RE2's rewrite.
  std::string substitution;
  std::unique_ptr<const format::Format> format;
  bool append_x_forwarded_host = false;

  static Result<HostRewrite> build(const plan::HostRewrite& plan);
  // The new host; empty: it stays. `host_name` is the chosen host's, for Kind::Auto.
  std::string_view apply(const RequestView& request, std::string_view host_name,
                         Arena& arena) const;
  // The same where only the chosen host decides.
  std::string_view ofHost(std::string_view host_name) const {
    return kind == Kind::Auto ? host_name : std::string_view();
  }
};

// The value of x-forwarded-host once `host` joined `existing`, which may be empty: the last host is
// not repeated.
std::string_view joinForwardedHost(std::string_view existing, std::string_view host, Arena& arena);

}  // namespace fairlead::route
