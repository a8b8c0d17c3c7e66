#include "calls/service.h"

#include <utility>

#include "http/joined_headers.h"
#include "route/retry_policy.h"
#include "stats/scopes.h"

namespace fairlead::calls {

Result<std::unique_ptr<const Service>> Service::build(const plan::Service& plan, NameIds& clusters,
                                                      stats::Registry* registry) {
  auto service = std::make_unique<Service>();
  service->plan = plan;
  service->cluster = clusters.hold(plan.cluster);
  service->metadata = route::MutationList({}, plan.metadata, http::isJoinedInRequests);
  if (plan.retry) {
    // Either list may hold words of the other.
    route::readRetryOn(plan.retry->retry_on, &service->retry_on);
    route::readRetryGrpcOn(plan.retry->retry_on, &service->retry_on);
  }
  if (service->isGoogle() && registry) {
    service->google_stats =
        registry->create<stats::GoogleGrpc>(stats::googleGrpcScope(plan.stat_prefix));
  }
  return std::unique_ptr<const Service>(std::move(service));
}

}  // namespace fairlead::calls
