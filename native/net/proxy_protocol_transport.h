// envoy.transport_sockets.upstream_proxy_protocol: the first bytes of a connection to a host say
// for whom it is; what follows is another transport's, or bytes in the clear.
#pragma once

#include <memory>

#include "net/transport.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::net {

// Of a cluster, or of some of its hosts. Shared by all workers.
class ProxyProtocolTransports final : public TransportFactory {
 public:
  using Stats = std::shared_ptr<stats::Block<stats::UpstreamProxyProtocol>>;
  // `inner`: null: bytes in the clear.
  ProxyProtocolTransports(const plan::ProxyProtocolSocket& plan, SharedTransport inner, Stats stats)
      : plan_(plan), inner_(std::move(inner)), stats_(std::move(stats)) {}

  // net::TransportFactory
  std::unique_ptr<Transport> make(const TransportTarget& target) const override;
  bool isTls() const override { return net::isTls(inner_); }

 private:
  const plan::ProxyProtocolSocket plan_;
  const SharedTransport inner_;
  const Stats stats_;
};

}  // namespace fairlead::net
