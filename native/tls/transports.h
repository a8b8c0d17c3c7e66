// Makes the transports of one filter chain, or of one cluster. Shared by all workers. Its context
// can be replaced while connections come: those that are there keep theirs.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "net/transport.h"
#include "tls/context.h"
#include "tls/counts.h"

namespace fairlead::tls {

class Transports final : public net::TransportFactory {
 public:
  // `handshake_timeout_ms`: 0: none.
  Transports(std::shared_ptr<const Context> context, Blocks blocks,
             uint64_t handshake_timeout_ms = 0);

  uint32_t id() const { return id_; }
  // The control thread's.
  void replace(std::shared_ptr<const Context> context);
  // The statistics of its certificates, which there are until others take their place.
  void keepExpiries(std::vector<std::shared_ptr<stats::BlockBase>> expiries) {
    expiries_ = std::move(expiries);
  }

  // net::TransportFactory
  std::unique_ptr<net::Transport> make(const net::TransportTarget& target) const override;
  bool isTls() const override { return true; }

 private:
  const uint32_t id_;
  const Blocks blocks_;
  std::vector<std::shared_ptr<stats::BlockBase>> expiries_;
  const uint64_t handshake_timeout_ms_;
  // Read once for each connection.
  std::atomic<std::shared_ptr<const Context>> context_;
};

}  // namespace fairlead::tls
