// Connections to hosts that go through an HTTP/1.1 proxy (envoy.transport_sockets.http_11_proxy):
// to the one that a host's configuration names, or else to one for all. The first names the host in
// a CONNECT, in the clear, whatever follows; the other one only where TLS follows, and is else
// spoken to as if it were the host.
#pragma once

#include <optional>

#include "net/address.h"
#include "net/transport.h"

namespace fairlead::http {

// Shared by all workers; any thread.
class Http11ProxyTransports final : public net::TransportFactory {
 public:
  // `proxy`: of hosts that name none; absent: those are reached without one. `inner`: what is
  // spoken then; null: bytes in the clear.
  Http11ProxyTransports(std::optional<net::Address> proxy, net::SharedTransport inner)
      : proxy_(std::move(proxy)), inner_(std::move(inner)) {}

  std::unique_ptr<net::Transport> make(const net::TransportTarget& target) const override;
  bool isTls() const override { return net::isTls(inner_); }
  const net::Address* proxyFor(const net::Address* named) const override {
    return named ? named : proxy_ ? &*proxy_ : nullptr;
  }

 private:
  const std::optional<net::Address> proxy_;
  const net::SharedTransport inner_;
};

}  // namespace fairlead::http
