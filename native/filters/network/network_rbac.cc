#include "filters/network/network_rbac.h"

#include <string>
#include <utility>

#include "filters/network/guarded_connection.h"
#include "format/origin.h"
#include "log/log.h"
#include "stats/filter_scopes.h"

namespace fairlead::filters {

namespace {

constexpr std::string_view kNetworkRbacSpace = "envoy.filters.network.rbac";

// Of one connection.
class RbacPass final : public GuardPass {
 public:
  RbacPass(const NetworkRbac& filter, net::DownstreamConnection& connection, unsigned worker)
      : filter_(filter), connection_(connection), worker_(worker) {}

  Verdict onData() override {
    return filter_.admits(connection_, worker_) ? Verdict::Passes : Verdict::Refused;
  }
  bool isContinuous() const override { return filter_.plan().is_continuous; }
  net::Millis delay() const override { return filter_.plan().delay_ms; }

 private:
  const NetworkRbac& filter_;
  net::DownstreamConnection& connection_;
  const unsigned worker_;
};

}  // namespace

Result<std::shared_ptr<const ConnectionGuard>> NetworkRbac::build(const plan::NetworkRbac& plan,
                                                                  const GuardScope& scope) {
  auto filter = std::make_shared<NetworkRbac>();
  filter->plan_ = plan;
  auto rules = RbacRules::build(plan.rules, plan.tree);
  if (!rules) return rules.error();
  filter->rules_ = std::move(rules.value());
  auto shadow = RbacRules::build(plan.shadow, plan.shadow_tree);
  if (!shadow) return shadow.error();
  filter->shadow_ = std::move(shadow.value());
  filter->stats_ =
      scope.registry.create<stats::NetworkRbac>(stats::networkRbacScope(plan.stat_prefix, {}));
  filter->shadow_stats_ = scope.registry.create<stats::NetworkRbacShadow>(
      stats::networkRbacScope(plan.stat_prefix, plan.shadow_stat_prefix));
  return std::shared_ptr<const ConnectionGuard>(std::move(filter));
}

std::unique_ptr<GuardPass> NetworkRbac::make(net::DownstreamConnection& connection, unsigned worker,
                                             GuardWaiter&) const {
  return std::make_unique<RbacPass>(*this, connection, worker);
}

bool NetworkRbac::admits(net::DownstreamConnection& connection, unsigned worker) const {
  const route::RequestView view = viewOf(connection);
  format::FormatContext context;
  format::describeConnection(connection, &context);
  const RbacRequest request{view, context, connection.remote()};
  if (shadow_) askShadow(connection, request, worker);
  if (!rules_) return true;
  using Counter = stats::NetworkRbac::Counter;
  const int policy = rules_->find(request);
  const bool is_allowed = rules_->allows(policy);
  stats_->shard(worker + 1)->add(is_allowed ? Counter::Allowed : Counter::Denied);
  if (!is_allowed) {
    log::debug(log::Component::Rbac, log::Tags{.connection = connection.id()}, "enforced denied");
    connection.setTermination(rules_->detailsOf(policy));
    connection.setClosedBy("rbac_deny_close");
  }
  return is_allowed;
}

void NetworkRbac::askShadow(net::DownstreamConnection& connection, const RbacRequest& request,
                            unsigned worker) const {
  using Counter = stats::NetworkRbacShadow::Counter;
  const int policy = shadow_->find(request);
  const bool is_allowed = shadow_->allows(policy);
  shadow_stats_->shard(worker + 1)
      ->add(is_allowed ? Counter::ShadowAllowed : Counter::ShadowDenied);
  const std::string prefix = plan_.shadow_stat_prefix + "shadow_";
  if (policy >= 0) {
    connection.tell(kNetworkRbacSpace, prefix + "effective_policy_id",
                    shadow_->nameOf(static_cast<size_t>(policy)));
  }
  connection.tell(kNetworkRbacSpace, prefix + "engine_result", is_allowed ? "allowed" : "denied");
}

}  // namespace fairlead::filters
