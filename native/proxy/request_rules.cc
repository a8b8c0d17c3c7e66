#include "proxy/request_rules.h"

#include <algorithm>
#include <string>
#include <utility>

namespace fairlead::proxy {

Result<std::shared_ptr<const RequestRules>> RequestRules::build(const plan::RequestRules& plan,
                                                                const filters::ConfigScope& scope) {
  auto rules = std::make_shared<RequestRules>();
  Result<FilterList> filters = FilterList::build(plan.http_filters, scope);
  if (!filters) return filters.error();
  rules->filters = std::move(filters.value());
  auto mirrors = route::MirrorPolicy::build(plan.mirrors, scope.clusters, &scope.slots);
  if (!mirrors) return mirrors.error();
  rules->mirrors = std::move(mirrors.value());
  Result<route::HashPolicies> hashes = route::HashPolicies::build(plan.hash_policies);
  if (!hashes) return hashes.error();
  rules->hash_policies = std::move(hashes.value());
  if (plan.retry) {
    Result<route::RetryPolicy> retry = route::RetryPolicy::build(*plan.retry);
    if (!retry) return retry.error();
    rules->retry = std::make_unique<const route::RetryPolicy>(std::move(retry.value()));
  }
  if (plan.error_match) {
    Result<filters::TapMatch> match = filters::TapMatch::build(*plan.error_match);
    if (!match) return match.error();
    rules->error_match = std::move(match.value());
  }
  return std::shared_ptr<const RequestRules>(std::move(rules));
}

// As in the real server, whose kind of failure it is follows its status, and conditions on the
// request never hold.
uint16_t RequestRules::outlierStatusOf(const http::ResponseHead& head) const {
  filters::TapMatch::Progress progress(*error_match);
  progress.onHeaders(plan::TapMatch::Kind::ResponseHeaders, head.headers,
                     std::to_string(head.status));
  if (!progress.matches()) return 200;
  return std::max<uint16_t>(head.status, 500);
}

}  // namespace fairlead::proxy
