// envoy.filters.network.rbac: who may connect, asked once the first bytes of a connection have
// come, or with all of them. Shared by all workers; immutable but for statistics.
#pragma once

#include <memory>

#include "filters/http/rbac_rules.h"
#include "filters/network/connection_guard.h"

namespace fairlead::filters {

class NetworkRbac final : public ConnectionGuard {
 public:
  static Result<std::shared_ptr<const ConnectionGuard>> build(const plan::NetworkRbac& plan,
                                                              const GuardScope& scope);

  std::unique_ptr<GuardPass> make(net::DownstreamConnection& connection, unsigned worker,
                                  GuardWaiter& waiter) const override;

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
