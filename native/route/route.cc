#include "route/route.h"

namespace fairlead::route {

Result<Route> Route::build(const plan::Route& plan, ClusterNames* names, RuntimeSlots* slots) {
  Route route;
  route.name = plan.name;
  Result<Match> match = Match::build(plan.match.value_or(plan::RouteMatch()), slots);
  if (!match) return match.error();
  route.match = std::move(match.value());
  if (plan.mutations) route.mutations = HeaderMutations(*plan.mutations);
  if (plan.cluster) {
    Result<ClusterAction> action = ClusterAction::build(*plan.cluster, names, slots);
    if (!action) return action.error();
    route.cluster = std::move(action.value());
  } else if (plan.redirect) {
    Result<Redirect> redirect = Redirect::build(*plan.redirect);
    if (!redirect) return redirect.error();
    route.redirect = std::move(redirect.value());
  } else if (plan.direct_response) {
    route.direct_response = *plan.direct_response;
  }
  for (const plan::FilterToggle& toggle : plan.filter_toggles) {
    if (toggle.filter >= 64) return Error{"a filter's place in its chain is below 64"};
    (toggle.disabled ? route.filters_off : route.filters_on) |= uint64_t{1} << toggle.filter;
  }
  return route;
}

}  // namespace fairlead::route
