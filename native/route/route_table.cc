#include "route/route_table.h"

#include <algorithm>
#include <iterator>

#include "route/tree_facts.h"
#include "stats/scopes.h"

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
                                                            const BuildFilterConfig& build_filter,
                                                            stats::Registry* registry,
                                                            NameIds* tables) {
  auto table = std::make_shared<RouteTable>();
  table->ignore_port_ = plan.ignore_port_in_host_matching;
  table->most_specific_wins_ = plan.most_specific_header_mutations_wins;
  table->ignores_parameters_ = plan.ignores_path_parameters;
  table->host_header_ = HeaderName(plan.vhost_header);
  for (const std::string& name : plan.internal_only_headers) {
    table->internal_headers_.emplace_back(name);
  }
  if (plan.mutations) table->mutations_ = HeaderMutations(*plan.mutations);
  table->asks_for_hosts_as_ = plan.asks_for_hosts_as;
  if (plan.scoped_routes) {
    if (!tables) return Error{"there may be no scopes here"};
    table->scopes_ = std::make_unique<const RouteScopes>(*plan.scoped_routes, *tables);
  }
  for (const plan::FilterConfig& config_plan : plan.filter_configs) {
    if (!build_filter) return Error{"no route may configure a filter here"};
    Result<std::unique_ptr<const FilterConfig>> config = build_filter(config_plan);
    if (!config) return config.error();
    table->filter_configs_.push_back(std::move(config.value()));
  }
  const Parts parts{clusters, slots, registry};
  for (const plan::VirtualHost& host_plan : plan.virtual_hosts) {
    Result<std::unique_ptr<VirtualHost>> host = table->buildHost(host_plan, parts);
    if (!host) return host.error();
    for (const std::string& domain : host_plan.domains) {
      table->domains_.add(domain, host.value().get());
    }
    table->hosts_.push_back(std::move(host.value()));
  }
  return std::shared_ptr<const RouteTable>(std::move(table));
}

Result<std::unique_ptr<VirtualHost>> RouteTable::buildHost(const plan::VirtualHost& plan,
                                                           const Parts& parts) const {
  auto host = std::make_unique<VirtualHost>();
  host->plan.name = plan.name;
  host->plan.require_tls = plan.require_tls;
  host->plan.include_request_attempt_count = plan.include_request_attempt_count;
  host->plan.include_attempt_count_in_response = plan.include_attempt_count_in_response;
  host->plan.include_is_timeout_retry = plan.include_is_timeout_retry;
  host->plan.metadata = plan.metadata;
  if (plan.retry_runtime) host->retry_runtime = RetryRuntime(*plan.retry_runtime, parts.slots);
  if (plan.mutations) host->mutations = HeaderMutations(*plan.mutations);
  if (auto groups = buildGroups(plan, parts, host.get()); !groups) return groups.error();
  Result<RouteList> routes = buildList(plan.routes, *host, parts);
  if (!routes) return routes.error();
  host->routes = std::move(routes.value());
  if (!plan.tree) return host;
  auto tree = std::make_unique<RouteTree>();
  auto built = match::MatchTree::build(plan.tree->tree.value_or(plan::MatchTree()), parts.slots);
  if (!built) return built.error();
  tree->tree = std::move(built.value());
  for (const plan::RouteList& list_plan : plan.tree->lists) {
    Result<RouteList> list = buildList(list_plan.routes, *host, parts);
    if (!list) return list.error();
    tree->lists.push_back(std::move(list.value()));
  }
  host->tree = std::move(tree);
  return host;
}

// Neither what indexes its routes nor what they are chained to moves with the list.
Result<RouteList> RouteTable::buildList(const std::vector<plan::Route>& plans,
                                        const VirtualHost& host, const Parts& parts) const {
  RouteList list;
  list.routes.reserve(plans.size());
  for (const plan::Route& plan : plans) {
    Result<Route> route = Route::build(plan, parts.clusters, parts.slots, filter_configs_);
    if (!route) {
      return Error{"virtual host '" + host.plan.name + "', route '" + plan.name +
                   "': " + route.error().message};
    }
    if (!plan.stat_prefix.empty() && parts.registry) {
      route.value().group = parts.registry->create<stats::VirtualCluster>(
          stats::routeScope(host.plan.name, plan.stat_prefix));
    }
    list.routes.push_back(std::move(route.value()));
  }
  list.index = std::make_unique<PathIndex>(list.routes.data(), list.routes.size());
  chain(list, host);
  return list;
}

Result<void> RouteTable::buildGroups(const plan::VirtualHost& plan, const Parts& parts,
                                     VirtualHost* host) {
  if (plan.virtual_clusters.empty() || !parts.registry) return {};
  const auto statsOf = [&](std::string_view name) {
    return parts.registry->create<stats::VirtualCluster>(
        stats::virtualClusterScope(plan.name, name));
  };
  for (const plan::VirtualCluster& group_plan : plan.virtual_clusters) {
    RequestGroup group{group_plan.name, {}, statsOf(group_plan.name), false};
    for (const plan::HeaderMatch& header_plan : group_plan.headers) {
      Result<HeaderMatch> header = HeaderMatch::build(header_plan);
      if (!header) return header.error();
      group.headers.push_back(std::move(header.value()));
    }
    host->groups.push_back(std::move(group));
  }
  host->groups.push_back({"other", {}, statsOf("other"), true});
  return {};
}

// The last to speak wins: usually the table, unless the most specific is to win. Called once the
// routes have their final places.
void RouteTable::chain(RouteList& list, const VirtualHost& host) const {
  for (Route& route : list.routes) {
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

const VirtualHost* RouteTable::findNamedHost(const RequestView& request) const {
  std::string_view name;
  // As in the real server, nobody looks at the header where it cannot matter.
  return request.header(host_header_, &name) ? findHost(name) : domains_.onlyOne();
}

// A path ends at its first ';'; its query stays.
const Route* RouteTable::findWithoutParameters(const VirtualHost& host,
                                               const RequestView& request) {
  const std::string_view path = request.pathOnly();
  if (path.find(';') == std::string_view::npos) return host.find(request);
  // Of each segment.
  std::string shorter;
  bool is_parameter = false;
  for (const char c : path) {
    is_parameter = c == ';' || (is_parameter && c != '/');
    if (!is_parameter) shorter.push_back(c);
  }
  shorter.append(request.path.substr(path.size()));
  RequestView view = request;
  view.path = shorter;
  return host.find(view);
}

const Route* VirtualHost::find(const RequestView& request) const {
  if (!tree) return routes.index->find(request);
  const int list = tree->tree.find(TreeFacts(request));
  if (list == match::MatchTree::kNone) return nullptr;
  const auto number = static_cast<size_t>(list);
  return number < tree->lists.size() ? tree->lists[number].index->find(request) : nullptr;
}

const RequestGroup* VirtualHost::findGroup(const RequestView& request) const {
  for (const RequestGroup& group : groups) {
    if (group.has(request)) return &group;
  }
  return nullptr;
}

RouteMatchResult RouteTable::match(const RequestView& request) const {
  RouteMatchResult result;
  result.virtual_host = findHost(request);
  if (result.virtual_host) result.route = findRoute(*result.virtual_host, request);
  return result;
}

}  // namespace fairlead::route
