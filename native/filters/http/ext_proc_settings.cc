#include "filters/http/ext_proc_settings.h"

#include <utility>

#include "http/joined_headers.h"
#include "stats/scopes.h"

namespace fairlead::filters {

ToldInstead::ToldInstead(const plan::ProcessingAttributes& of) {
  for (const plan::ProcessingAttribute& attribute : of.request) request.emplace_back(attribute);
  for (const plan::ProcessingAttribute& attribute : of.response) response.emplace_back(attribute);
}

Result<std::unique_ptr<const ExtProcSettings>> ExtProcSettings::build(const std::string& name,
                                                                      const plan::ExtProc& plan,
                                                                      stats::Registry& registry,
                                                                      const stats::Scope& http,
                                                                      NameIds& clusters) {
  auto settings = std::make_unique<ExtProcSettings>();
  settings->name = name;
  settings->plan = plan;
  if (plan.attributes) settings->attributes = ToldInstead(*plan.attributes);
  settings->mode = plan.mode.value_or(plan::ProcessingMode());
  Result<std::unique_ptr<const calls::Service>> service =
      calls::Service::build(plan.service.value_or(plan::Service()), clusters, &registry);
  if (!service) return service.error();
  settings->service = std::move(service.value());
  for (const plan::ProcessingAttribute& attribute : plan.request_attributes) {
    settings->request_attributes.emplace_back(attribute);
  }
  for (const plan::ProcessingAttribute& attribute : plan.response_attributes) {
    settings->response_attributes.emplace_back(attribute);
  }
  Result<HeaderRules> rules = HeaderRules::build(plan.rules ? *plan.rules : plan::MutationRules());
  if (!rules) return rules.error();
  settings->rules = std::move(rules.value());
  Result<NameList> allowed = NameList::build(plan.allowed_headers);
  if (!allowed) return allowed.error();
  settings->allowed_headers = std::move(allowed.value());
  Result<NameList> disallowed = NameList::build(plan.disallowed_headers);
  if (!disallowed) return disallowed.error();
  settings->disallowed_headers = std::move(disallowed.value());
  std::string part = "ext_proc.";
  if (!plan.stat_prefix.empty()) part.append(plan.stat_prefix).append(".");
  settings->stats = registry.create<stats::HttpExtProc>(stats::innerScope(http, part));
  return std::unique_ptr<const ExtProcSettings>(std::move(settings));
}

Result<std::unique_ptr<const ExtProcRoute>> ExtProcRoute::build(const plan::ExtProcRoute& plan,
                                                                NameIds& clusters,
                                                                stats::Registry& registry) {
  auto route = std::make_unique<ExtProcRoute>();
  route->plan = plan;
  if (plan.attributes) route->attributes = ToldInstead(*plan.attributes);
  route->metadata = route::MutationList({}, plan.metadata, http::isJoinedInRequests);
  if (plan.service) {
    Result<std::unique_ptr<const calls::Service>> service =
        calls::Service::build(*plan.service, clusters, &registry);
    if (!service) return service.error();
    route->service = std::move(service.value());
  }
  return std::unique_ptr<const ExtProcRoute>(std::move(route));
}

}  // namespace fairlead::filters
