#include "route/route.h"

namespace fairlead::route {

Result<Route> Route::build(const plan::Route& plan, NameIds& clusters, RuntimeSlots* slots,
                           const FilterConfigs& configs) {
  Route route;
  route.name = plan.name;
  Result<Match> match = Match::build(plan.match.value_or(plan::RouteMatch()), slots);
  if (!match) return match.error();
  route.match = std::move(match.value());
  if (plan.mutations) route.mutations = HeaderMutations(*plan.mutations);
  if (plan.cluster) {
    Result<ClusterAction> action = ClusterAction::build(*plan.cluster, clusters, slots, configs);
    if (!action) return action.error();
    route.cluster = std::move(action.value());
  } else if (plan.redirect) {
    Result<Redirect> redirect = Redirect::build(*plan.redirect);
    if (!redirect) return redirect.error();
    route.redirect = std::move(redirect.value());
  } else if (plan.direct_response) {
    route.direct_response = *plan.direct_response;
  }
  Result<FilterSettings> filters = FilterSettings::build(plan.filters, configs);
  if (!filters) return filters.error();
  route.filters = std::move(filters.value());
  return route;
}

}  // namespace fairlead::route
