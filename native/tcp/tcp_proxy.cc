#include "tcp/tcp_proxy.h"

#include "tcp/session.h"

namespace fairlead::tcp {

net::DownstreamConnection* TcpProxy::accept(net::AcceptedSocket socket,
                                            net::ConnectionAccounts& accounts) {
  // Owns itself from here on; may have ended already when start() returns.
  auto* session = new Session(*this, std::move(socket), accounts);
  return session->start() ? session : nullptr;
}

const TcpProxyConfig::Target& TcpProxy::chooseTarget() {
  const std::vector<TcpProxyConfig::Target>& targets = config_->targets;
  if (targets.size() == 1) return targets[0];
  uint64_t point = context().random.below(config_->plan.total_weight);
  for (size_t i = 0; i < targets.size(); ++i) {
    const uint64_t weight = config_->plan.clusters[i].weight;
    if (point < weight) return targets[i];
    point -= weight;
  }
  return targets.back();
}

}  // namespace fairlead::tcp
