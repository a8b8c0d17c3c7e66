// envoy.transport_sockets.upstream_proxy_protocol: the first bytes of a connection to a host say
// for whom it is; what follows is another transport's, or bytes in the clear.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/transport.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::net {

// Makes the values that have a format, which a layer above knows to read. Any thread.
class TlvFormats {
 public:
  virtual ~TlvFormats() = default;
  // Of a connection to a host, in their order.
  virtual std::vector<std::string> values(const Address& local, const Address& remote) const = 0;
};

// Of a cluster, or of some of its hosts. Shared by all workers.
class ProxyProtocolTransports final : public TransportFactory,
                                      public std::enable_shared_from_this<ProxyProtocolTransports> {
 public:
  using Stats = std::shared_ptr<stats::Block<stats::UpstreamProxyProtocol>>;
  using ClusterStats = std::shared_ptr<stats::Block<stats::Cluster>>;
  // `inner`: null: bytes in the clear. `formats`: null: all values are known.
  ProxyProtocolTransports(const plan::ProxyProtocolSocket& plan, SharedTransport inner, Stats stats,
                          ClusterStats cluster_stats, std::unique_ptr<const TlvFormats> formats)
      : plan_(plan),
        inner_(std::move(inner)),
        stats_(std::move(stats)),
        cluster_stats_(std::move(cluster_stats)),
        formats_(std::move(formats)) {}

  // The header of version 2. Addresses: of the connection to the host, where values have formats.
  std::string headerV2(const ProxiedClient* client, unsigned worker, const Address& local,
                       const Address& remote) const;

  // net::TransportFactory
  std::unique_ptr<Transport> make(const TransportTarget& target) const override;
  bool isTls() const override { return net::isTls(inner_); }

 private:
  const plan::ProxyProtocolSocket plan_;
  const SharedTransport inner_;
  const Stats stats_;
  // What is said to hosts counts as theirs.
  const ClusterStats cluster_stats_;
  const std::unique_ptr<const TlvFormats> formats_;
};

}  // namespace fairlead::net
