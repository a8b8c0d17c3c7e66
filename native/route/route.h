// One route: what it takes, what it changes, and what becomes of the request. Immutable.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "plan/plan.gen.h"
#include "route/action.h"
#include "route/filter_settings.h"
#include "route/match.h"
#include "route/redirect.h"

namespace fairlead::route {

struct Route {
  std::string name;
  Match match;
  HeaderMutations mutations;
  // The route's, virtual host's and table's mutations; a chosen Target has its own chain.
  MutationChain chain;
  // Exactly one is there, or none: the route does not forward.
  std::optional<ClusterAction> cluster;
  std::optional<Redirect> redirect;
  Boxed<plan::DirectResponse> direct_response;
  // Where it differs from the connection manager's filters; a chosen Target may have its own.
  FilterSettings filters;

  static Result<Route> build(const plan::Route& plan, NameIds& clusters, RuntimeSlots* slots,
                             const FilterConfigs& configs);
};

}  // namespace fairlead::route
