#include "tcp/tcp_proxy.h"

#include "tcp/session.h"

namespace fairlead::tcp {

net::DownstreamConnection* TcpProxy::accept(net::AcceptedSocket socket,
                                            net::ConnectionAccounts& accounts) {
  // Owns itself from here on; may have ended already when start() returns.
  auto* session = new Session(*this, std::move(socket), accounts);
  return session->start() ? session : nullptr;
}

const std::string& TcpProxy::chooseCluster() {
  const std::vector<plan::WeightedTarget>& clusters = config_->plan.clusters;
  if (clusters.size() == 1) return clusters[0].cluster;
  uint64_t point = context().random.below(config_->plan.total_weight);
  for (const plan::WeightedTarget& target : clusters) {
    if (point < target.weight) return target.cluster;
    point -= target.weight;
  }
  return clusters.back().cluster;
}

}  // namespace fairlead::tcp
