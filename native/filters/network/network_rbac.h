// envoy.filters.network.rbac: who may connect, asked once the first bytes of a connection have
// come, or with all of them. It stands beneath what the chain speaks, so that nothing of a client
// who may not is seen. Shared by all workers; immutable but for statistics.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "filters/http/rbac_rules.h"
#include "net/transport.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::net {
class DownstreamConnection;
}

namespace fairlead::filters {

class NetworkRbac {
 public:
  static Result<std::shared_ptr<const NetworkRbac>> build(const plan::NetworkRbac& plan,
                                                          stats::Registry& registry);
  // Connections of a chain with such filters, in their order. `inner`: null: raw sockets.
  static Result<net::SharedTransport> guard(const std::vector<plan::ConnectionGuard>& plans,
                                            net::SharedTransport inner, stats::Registry& registry);

  const plan::NetworkRbac& plan() const { return plan_; }
  // Counts and tells of it; why it may not is told as well.
  bool admits(net::DownstreamConnection& connection, unsigned worker) const;

 private:
  void askShadow(net::DownstreamConnection& connection, const RbacRequest& request,
                 unsigned worker) const;

  plan::NetworkRbac plan_;
  // Null: there are none.
  std::unique_ptr<const RbacRules> rules_;
  std::unique_ptr<const RbacRules> shadow_;
  std::shared_ptr<stats::Block<stats::NetworkRbac>> stats_;
  std::shared_ptr<stats::Block<stats::NetworkRbacShadow>> shadow_stats_;
};

}  // namespace fairlead::filters
