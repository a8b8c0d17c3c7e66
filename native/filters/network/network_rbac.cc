#include "filters/network/network_rbac.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "format/origin.h"
#include "log/log.h"
#include "net/connection.h"
#include "net/wrapping_transport.h"
#include "stats/scopes.h"

namespace fairlead::filters {

namespace {

using RbacFilters = std::vector<std::shared_ptr<const NetworkRbac>>;

constexpr std::string_view kNetworkRbacSpace = "envoy.filters.network.rbac";

// "rbac.", "rbac.<prefix>."
std::string rbacPart(const std::string& prefix) {
  if (prefix.empty()) return "rbac.";
  return "rbac." + prefix + (prefix.ends_with('.') ? "" : ".");
}

Result<std::unique_ptr<const RbacRules>> rulesOf(const Boxed<plan::RbacRules>& plan) {
  if (!plan) return std::unique_ptr<const RbacRules>();
  return RbacRules::build(*plan);
}

// Beneath one connection; its worker's thread.
class RbacTransport final : public net::WrappingTransport, private net::Timer {
 public:
  RbacTransport(const RbacFilters& filters, net::DownstreamConnection& owner, unsigned worker,
                std::unique_ptr<net::Transport> inner)
      : WrappingTransport(std::move(inner)), filters_(filters), owner_(owner), worker_(worker) {}

  Handshake handshake(int fd) override { return inner_ ? inner_->handshake(fd) : Handshake::Done; }

  ssize_t read(int fd, char* to, size_t room) override {
    if (is_refused_) return refuse();
    const ssize_t got = WrappingTransport::read(fd, to, room);
    if (got < 0) return got;
    const NetworkRbac* const refusing = ask();
    if (!refusing) return got;
    is_refused_ = true;
    // It came, though nobody sees it.
    connection_->countSpliced(static_cast<uint64_t>(got), 0);
    if (const net::Millis delay_ms = refusing->plan().delay_ms) {
      net::Loop& loop = connection_->loop();
      loop.timers().arm(this, loop.now() + delay_ms);
    }
    return refuse();
  }

 private:
  // Null: it may go on.
  const NetworkRbac* ask() {
    for (const auto& filter : filters_) {
      if (was_asked_ && !filter->plan().is_continuous) continue;
      if (!filter->admits(owner_, worker_)) return filter.get();
    }
    was_asked_ = true;
    return nullptr;
  }

  ssize_t refuse() {
    errno = Timer::isArmed() ? EAGAIN : EPERM;
    return -1;
  }

  void onTimer() override { connection_->wake(EPOLLIN); }

  const RbacFilters& filters_;
  net::DownstreamConnection& owner_;
  const unsigned worker_;
  bool was_asked_ = false;
  bool is_refused_ = false;
};

class RbacTransports final : public net::TransportFactory {
 public:
  RbacTransports(RbacFilters filters, net::SharedTransport inner)
      : filters_(std::move(filters)), inner_(std::move(inner)) {}

  std::unique_ptr<net::Transport> make(const net::TransportTarget& target) const override {
    return std::make_unique<RbacTransport>(filters_, *target.owner, target.worker,
                                           net::makeTransport(inner_, target));
  }
  bool isTls() const override { return net::isTls(inner_); }

 private:
  const RbacFilters filters_;
  const net::SharedTransport inner_;
};

}  // namespace

Result<std::shared_ptr<const NetworkRbac>> NetworkRbac::build(const plan::NetworkRbac& plan,
                                                              stats::Registry& registry) {
  auto filter = std::make_shared<NetworkRbac>();
  filter->plan_ = plan;
  auto rules = rulesOf(plan.rules);
  if (!rules) return rules.error();
  filter->rules_ = std::move(rules.value());
  auto shadow = rulesOf(plan.shadow);
  if (!shadow) return shadow.error();
  filter->shadow_ = std::move(shadow.value());
  const std::string prefix = plan.stat_prefix + (plan.stat_prefix.ends_with('.') ? "" : ".");
  filter->stats_ = registry.create<stats::NetworkRbac>(stats::plainScope(prefix + rbacPart({})));
  filter->shadow_stats_ = registry.create<stats::NetworkRbacShadow>(
      stats::plainScope(prefix + rbacPart(plan.shadow_stat_prefix)));
  return std::shared_ptr<const NetworkRbac>(std::move(filter));
}

Result<net::SharedTransport> NetworkRbac::guard(const std::vector<plan::ConnectionGuard>& plans,
                                                net::SharedTransport inner,
                                                stats::Registry& registry) {
  RbacFilters filters;
  for (const plan::ConnectionGuard& plan : plans) {
    if (!plan.rbac) continue;
    auto filter = build(*plan.rbac, registry);
    if (!filter) return filter.error();
    filters.push_back(std::move(filter.value()));
  }
  return net::SharedTransport(
      std::make_shared<RbacTransports>(std::move(filters), std::move(inner)));
}

bool NetworkRbac::admits(net::DownstreamConnection& connection, unsigned worker) const {
  // Conditions that speak of a request are refused by configurations, or hold for none.
  static http::HeaderMap no_headers;
  const route::RequestView view{{}, {}, {}, {}, &no_headers, connection.id(), connection.tls()};
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
