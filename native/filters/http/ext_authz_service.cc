#include "filters/http/ext_authz_service.h"

#include <utility>

#include "stats/filter_scopes.h"

namespace fairlead::filters {

namespace {

// What went wrong with one of several things that are built.
template <typename T>
std::optional<Error> take(Result<T> built, T* out) {
  if (!built) return built.error();
  *out = std::move(built.value());
  return std::nullopt;
}

}  // namespace

Result<NameList> NameList::build(const Boxed<plan::StringMatches>& plan) {
  NameList list;
  if (!plan) return list;
  list.is_set_ = true;
  for (const plan::StringMatch& one : plan->any) {
    Result<match::StringMatcher> matcher = match::StringMatcher::build(one);
    if (!matcher) return matcher.error();
    list.any_.push_back(std::move(matcher.value()));
  }
  return list;
}

Result<std::unique_ptr<const AuthzService>> AuthzService::build(const plan::ExtAuthzService& plan,
                                                                NameIds& clusters,
                                                                stats::Registry& registry) {
  auto service = std::make_unique<AuthzService>();
  Result<std::unique_ptr<const calls::Service>> asked =
      calls::Service::build(plan.service.value_or(plan::Service()), clusters, &registry);
  if (!asked) return asked.error();
  service->service = std::move(asked.value());
  if (plan.http) {
    service->http = *plan.http;
    const plan::ExtAuthzHttp& http = *plan.http;
    for (const std::optional<Error>& error :
         {take(NameList::build(http.upstream_headers), &service->upstream_headers),
          take(NameList::build(http.upstream_append_headers), &service->upstream_append_headers),
          take(NameList::build(http.client_headers), &service->client_headers),
          take(NameList::build(http.client_headers_on_success),
               &service->client_headers_on_success),
          take(NameList::build(http.metadata_headers), &service->metadata_headers),
          take(NameList::build(http.allowed_headers), &service->allowed_headers)}) {
      if (error) return *error;
    }
  }
  return std::unique_ptr<const AuthzService>(std::move(service));
}

Result<std::unique_ptr<const ExtAuthzSettings>> ExtAuthzSettings::build(
    const std::string& name, const plan::ExtAuthz& plan, stats::Registry& registry,
    const stats::Scope& http, unsigned workers, RuntimeSlots& slots, NameIds& clusters) {
  auto settings = std::make_unique<ExtAuthzSettings>();
  settings->name = name;
  settings->plan = plan;
  Result<std::unique_ptr<const AuthzService>> service =
      AuthzService::build(plan.service.value_or(plan::ExtAuthzService()), clusters, registry);
  if (!service) return service.error();
  settings->service = std::move(service.value());
  constexpr uint64_t kAll = 1'000'000;
  settings->enabled = plan.enabled
                          ? RuntimeNumber(plan.enabled->millionths, plan.enabled->slot, &slots)
                          : RuntimeNumber(kAll, 0, nullptr);
  settings->deny_at_disable =
      plan.deny_at_disable
          ? RuntimeNumber(plan.deny_at_disable->value, plan.deny_at_disable->slot, &slots)
          : RuntimeNumber(0, 0, nullptr);
  if (plan.enabled_metadata) {
    Result<RbacCondition> condition = RbacCondition::build(*plan.enabled_metadata);
    if (!condition) return condition.error();
    settings->enabled_metadata = std::move(condition.value());
  }
  for (const std::optional<Error>& error :
       {take(NameList::build(plan.allowed_headers), &settings->allowed_headers),
        take(NameList::build(plan.disallowed_headers), &settings->disallowed_headers)}) {
    if (error) return *error;
  }
  if (plan.rules) {
    Result<HeaderRules> rules = HeaderRules::build(*plan.rules);
    if (!rules) return rules.error();
    settings->rules = std::move(rules.value());
  }
  settings->stats =
      registry.create<stats::HttpExtAuthz>(stats::extAuthzScope(http, plan.stat_prefix));
  settings->cluster_counts = std::make_shared<ClusterCounts<stats::ClusterExtAuthz>>(
      workers, [prefix = plan.stat_prefix](const stats::Scope& cluster) {
        return stats::extAuthzScope(cluster, prefix);
      });
  return std::unique_ptr<const ExtAuthzSettings>(std::move(settings));
}

Result<std::unique_ptr<const ExtAuthzRoute>> ExtAuthzRoute::build(const plan::ExtAuthzRoute& plan,
                                                                  NameIds& clusters,
                                                                  stats::Registry& registry) {
  auto route = std::make_unique<ExtAuthzRoute>();
  route->plan = plan;
  if (plan.service) {
    Result<std::unique_ptr<const AuthzService>> service =
        AuthzService::build(*plan.service, clusters, registry);
    if (!service) return service.error();
    route->service = std::move(service.value());
  }
  return std::unique_ptr<const ExtAuthzRoute>(std::move(route));
}

}  // namespace fairlead::filters
