// What becomes of requests to a cluster, whatever their routes say. Immutable; made with the
// cluster, shared by all workers.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/name_ids.h"
#include "base/result.h"
#include "filters/http/http_filter.h"
#include "filters/http/tap_match.h"
#include "proxy/filter_list.h"
#include "proxy/stream_info.h"
#include "route/action.h"
#include "upstream/cluster.h"

namespace fairlead::proxy {

struct RequestRules final : upstream::ClusterPart {
  static Result<std::shared_ptr<const RequestRules>> build(const plan::RequestRules& plan,
                                                           const filters::ConfigScope& scope);
  // Null: there are none.
  static const RequestRules* of(const upstream::Cluster& cluster) {
    return static_cast<const RequestRules*>(cluster.requestRules());
  }

  // Of each try; none: the connection manager's router has a say.
  FilterList filters;
  // Of these three: none or null: as the route says.
  std::vector<route::MirrorPolicy> mirrors;
  route::HashPolicies hash_policies;
  std::unique_ptr<const route::RetryPolicy> retry;
  // Answers that are failures of their hosts; absent: by their statuses.
  std::optional<filters::TapMatch> error_match;
  // What detectors of outliers take such an answer for.
  uint16_t outlierStatusOf(const http::ResponseHead& head) const;
};

// What the request's cluster says of these three, or else its route. Null: nobody says anything.
inline const route::RetryPolicy* retryPolicyOf(const StreamInfo& info) {
  const RequestRules* const rules = RequestRules::of(info.cluster->cluster());
  return rules && rules->retry ? rules->retry.get() : info.route->cluster->retry.get();
}

inline const std::vector<route::MirrorPolicy>& mirrorsOf(const StreamInfo& info) {
  const RequestRules* const rules = RequestRules::of(info.cluster->cluster());
  return rules && !rules->mirrors.empty() ? rules->mirrors : info.route->cluster->mirrors;
}

inline const route::HashPolicies& hashPoliciesOf(const StreamInfo& info) {
  const RequestRules* const rules = RequestRules::of(info.cluster->cluster());
  return rules && !rules->hash_policies.empty() ? rules->hash_policies
                                                : info.route->cluster->hash_policies;
}

// What each try to a cluster passes: its own filters, or else the router's. Null: nothing.
inline const FilterList* tryFiltersOf(const upstream::Cluster& cluster, const HttpConfig& config) {
  const RequestRules* const rules = RequestRules::of(cluster);
  if (rules && !rules->filters.empty()) return &rules->filters;
  return config.upstream_filters.empty() ? nullptr : &config.upstream_filters;
}

}  // namespace fairlead::proxy
