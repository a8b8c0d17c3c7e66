// envoy.filters.network.ext_authz: a service of gRPC says who may go on, asked once the first bytes
// of a connection have come. Shared by all workers; immutable but for statistics.
#pragma once

#include <memory>
#include <optional>

#include "calls/service.h"
#include "filters/http/rbac_rules.h"
#include "filters/network/connection_guard.h"

namespace fairlead::filters {

class NetworkExtAuthz final : public ConnectionGuard {
 public:
  static Result<std::shared_ptr<const ConnectionGuard>> build(const plan::NetworkExtAuthz& plan,
                                                              const GuardScope& scope);

  std::unique_ptr<GuardPass> make(net::DownstreamConnection& connection, unsigned worker,
                                  GuardWaiter& waiter) const override;

  plan::NetworkExtAuthz plan;
  std::unique_ptr<const calls::Service> service;
  std::optional<RbacCondition> enabled_metadata;
  std::shared_ptr<const WorkerCalls> calls;
  std::shared_ptr<stats::Block<stats::NetworkExtAuthz>> stats;
};

}  // namespace fairlead::filters
