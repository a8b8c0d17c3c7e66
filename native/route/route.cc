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
    if (const auto& format = plan.direct_response->format) {
      route.direct_body = std::make_unique<const format::ReplyBody>(*format);
    }
  }
  route.metadata = plan.metadata;
  Result<FilterSettings> filters = FilterSettings::build(plan.filters, configs);
  if (!filters) return filters.error();
  route.filters = std::move(filters.value());
  if (!plan.try_filters.empty()) {
    auto of_tries = TryFilterSettings::build(plan.try_filters, configs);
    if (!of_tries) return of_tries.error();
    route.try_filters = std::move(of_tries.value());
  }
  if (plan.tracing || plan.decorator || plan.tag_metadata) {
    auto trace = std::make_unique<TraceSettings>();
    if (plan.tracing) trace->tracing.emplace(*plan.tracing, slots);
    trace->decorator = plan.decorator;
    trace->metadata = plan.tag_metadata;
    route.trace = std::move(trace);
  }
  return route;
}

}  // namespace fairlead::route
