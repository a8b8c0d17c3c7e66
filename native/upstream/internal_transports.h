// envoy.transport_sockets.internal_upstream: what internal listeners are told of the host and the
// cluster that a connection is of. Bytes go through another transport, as they are. Shared by all
// workers; any thread.
#pragma once

#include <memory>

#include "net/transport.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::upstream {

class InternalTransports final : public net::TransportFactory {
 public:
  // `inner`: null: bytes in the clear.
  InternalTransports(const plan::InternalUpstreamSocket& plan, net::SharedTransport inner,
                     std::shared_ptr<stats::Block<stats::InternalUpstream>> stats)
      : plan_(plan), inner_(std::move(inner)), stats_(std::move(stats)) {}

  std::unique_ptr<net::Transport> make(const net::TransportTarget& target) const override {
    return makeTransport(inner_, target);
  }
  bool isTls() const override { return net::isTls(inner_); }
  std::shared_ptr<const format::PassedMetadata> metadataFor(const plan::Host& host,
                                                            unsigned worker) const override;
  bool tellsStates() const override { return true; }

 private:
  const plan::InternalUpstreamSocket plan_;
  const net::SharedTransport inner_;
  const std::shared_ptr<stats::Block<stats::InternalUpstream>> stats_;
};

}  // namespace fairlead::upstream
