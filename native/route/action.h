// What a route does with a request, compiled: forwards it, redirects it, or answers it. Immutable.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/arena.h"
#include "base/regex.h"
#include "base/result.h"
#include "plan/plan.gen.h"
#include "route/header_mutations.h"
#include "route/match.h"

namespace fairlead::route {

// A path or host that is made from the one that came.
struct Rewrite {
  plan::PathRewrite::Kind kind = plan::PathRewrite::Kind::None;
  std::string value;
  std::optional<Regex> regex;

  static Result<Rewrite> build(const plan::PathRewrite& plan);
  // The new path with its query, in the arena. `match`: whose path a prefix is replaced of.
  std::string_view apply(std::string_view path, const Match& match, Arena& arena) const;
};

// A cluster that a request may go to.
struct Target {
  // In the table's list of names; -1: a header names the cluster.
  int slot = -1;
  std::string cluster_header;
  uint64_t weight = 0;
  HeaderMutations mutations;
  std::string host_rewrite;
};

struct ClusterAction {
  plan::ClusterAction plan;
  // One, or as many as there are weights.
  std::vector<Target> targets;
  uint64_t total_weight = 0;
  std::string weight_header;
  Rewrite path_rewrite;
  std::optional<Regex> host_regex;

  const Target& pick(const RequestView& request) const;
};

struct Redirect {
  plan::Redirect plan;
  Rewrite path_rewrite;

  // The value of `location`, in the arena.
  std::string_view location(const RequestView& request, const Match& match, Arena& arena) const;
};

struct Route {
  std::string name;
  Match match;
  HeaderMutations mutations;
  // Exactly one is there, or none: the route does not forward.
  std::optional<ClusterAction> cluster;
  std::optional<Redirect> redirect;
  std::optional<plan::DirectResponse> direct_response;

  // `names`: the table's list of clusters, which grows by those that are new.
  static Result<Route> build(const plan::Route& plan, std::vector<std::string>* names);
};

}  // namespace fairlead::route
