// Makes connections of a filter chain that has gates: of those that pass them. The worker's thread.
#pragma once

#include <memory>

#include "net/connection_gate.h"
#include "net/downstream_connection.h"

namespace fairlead::filters {

class GatedFactory final : public net::ConnectionFactory {
 public:
  GatedFactory(net::Loop& loop, std::shared_ptr<const net::ConnectionGates> gates, unsigned worker,
               std::unique_ptr<net::ConnectionFactory> inner)
      : loop_(loop), gates_(std::move(gates)), worker_(worker), inner_(std::move(inner)) {}

  net::DownstreamConnection* accept(net::AcceptedSocket socket,
                                    net::ConnectionAccounts& accounts) override;

 private:
  net::Loop& loop_;
  const std::shared_ptr<const net::ConnectionGates> gates_;
  const unsigned worker_;
  const std::unique_ptr<net::ConnectionFactory> inner_;
};

}  // namespace fairlead::filters
