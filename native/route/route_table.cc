#include "route/route_table.h"

#include <algorithm>
#include <iterator>

namespace fairlead::route {

namespace {

std::string_view withoutPort(std::string_view authority) {
  const size_t colon = authority.rfind(':');
  if (colon == std::string_view::npos || authority.find(']', colon) != std::string_view::npos) {
    return authority;
  }
  return authority.substr(0, colon);
}

}  // namespace

Result<std::shared_ptr<const RouteTable>> RouteTable::build(const plan::RouteTable& plan,
                                                            NameIds& clusters, RuntimeSlots* slots,
                                                            const BuildFilterConfig& build_filter) {
  auto table = std::make_shared<RouteTable>();
  table->ignore_port_ = plan.ignore_port_in_host_matching;
  table->most_specific_wins_ = plan.most_specific_header_mutations_wins;
  if (plan.mutations) table->mutations_ = HeaderMutations(*plan.mutations);
  for (const plan::FilterConfig& config_plan : plan.filter_configs) {
    if (!build_filter) return Error{"no route may configure a filter here"};
    Result<std::unique_ptr<const FilterConfig>> config = build_filter(config_plan);
    if (!config) return config.error();
    table->filter_configs_.push_back(std::move(config.value()));
  }
  for (const plan::VirtualHost& host_plan : plan.virtual_hosts) {
    Result<std::unique_ptr<VirtualHost>> host = table->buildHost(host_plan, clusters, slots);
    if (!host) return host.error();
    for (const std::string& domain : host_plan.domains) {
      table->domains_.add(domain, host.value().get());
    }
    table->hosts_.push_back(std::move(host.value()));
  }
  return std::shared_ptr<const RouteTable>(std::move(table));
}

Result<std::unique_ptr<VirtualHost>> RouteTable::buildHost(const plan::VirtualHost& plan,
                                                           NameIds& clusters,
                                                           RuntimeSlots* slots) const {
  auto host = std::make_unique<VirtualHost>();
  host->plan.name = plan.name;
  host->plan.require_tls = plan.require_tls;
  host->plan.include_request_attempt_count = plan.include_request_attempt_count;
  host->plan.include_attempt_count_in_response = plan.include_attempt_count_in_response;
  host->plan.include_is_timeout_retry = plan.include_is_timeout_retry;
  if (plan.retry_runtime) host->retry_runtime = RetryRuntime(*plan.retry_runtime, slots);
  if (plan.mutations) host->mutations = HeaderMutations(*plan.mutations);
  host->routes.reserve(plan.routes.size());
  for (const plan::Route& route_plan : plan.routes) {
    Result<Route> route = Route::build(route_plan, clusters, slots, filter_configs_);
    if (!route) {
      return Error{"virtual host '" + plan.name + "', route '" + route_plan.name +
                   "': " + route.error().message};
    }
    host->routes.push_back(std::move(route.value()));
  }
  host->index = std::make_unique<PathIndex>(host->routes);
  chain(*host);
  return host;
}

// The last to speak wins: usually the table, unless the most specific is to win. Called once the
// routes have their final places.
void RouteTable::chain(VirtualHost& host) const {
  for (Route& route : host.routes) {
    const HeaderMutations* levels[] = {&route.mutations, &host.mutations, &mutations_};
    if (most_specific_wins_) std::reverse(std::begin(levels), std::end(levels));
    for (const HeaderMutations* level : levels) route.chain.append(*level);
    if (!route.cluster) continue;
    for (Target& target : route.cluster->targets) {
      target.chain.append(target.mutations);
      for (const HeaderMutations* level : levels) target.chain.append(*level);
    }
  }
}

const VirtualHost* RouteTable::findHost(std::string_view authority) const {
  return domains_.find(ignore_port_ ? withoutPort(authority) : authority);
}

RouteMatchResult RouteTable::match(const RequestView& request) const {
  RouteMatchResult result;
  result.virtual_host = findHost(request.authority);
  if (result.virtual_host) result.route = result.virtual_host->index->find(request);
  return result;
}

}  // namespace fairlead::route
