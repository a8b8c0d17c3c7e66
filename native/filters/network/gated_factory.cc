#include "filters/network/gated_factory.h"

#include <utility>

#include "filters/network/refused_connection.h"
#include "format/context.h"

namespace fairlead::filters {

net::DownstreamConnection* GatedFactory::accept(net::AcceptedSocket socket,
                                                net::ConnectionAccounts& accounts) {
  auto pass = std::make_unique<net::GatePass>(gates_, worker_);
  const net::ConnectionGate::Verdict verdict = pass->askAll(loop_.nowMicros());
  if (verdict.passes) {
    net::DownstreamConnection* const connection = inner_->accept(std::move(socket), accounts);
    if (connection) connection->hold(std::move(pass));
    return connection;
  }
  inner_->onRefused();
  // Owns itself from here on; may have ended already when start() returns.
  auto* refused = new RefusedConnection(loop_, socket, accounts, verdict, *inner_);
  return refused->start() ? refused : nullptr;
}

}  // namespace fairlead::filters
