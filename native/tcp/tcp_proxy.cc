#include "tcp/tcp_proxy.h"

#include "tcp/session.h"

namespace fairlead::tcp {

net::DownstreamConnection* TcpProxy::accept(net::AcceptedSocket socket,
                                            net::ConnectionAccounts& accounts) {
  // Owns itself from here on; may have ended already when start() returns.
  auto* session = new Session(*this, std::move(socket), accounts);
  return session->start() ? session : nullptr;
}

const NameIds::Ref& TcpProxy::chooseCluster() {
  const std::vector<NameIds::Ref>& clusters = config_->clusters;
  if (clusters.size() == 1) return clusters[0];
  uint64_t point = context().random.below(config_->plan.total_weight);
  for (size_t i = 0; i < clusters.size(); ++i) {
    const uint64_t weight = config_->plan.clusters[i].weight;
    if (point < weight) return clusters[i];
    point -= weight;
  }
  return clusters.back();
}

}  // namespace fairlead::tcp
