#include "filters/network/missing_filter.h"

#include "filters/network/refused_connection.h"

namespace fairlead::filters {

net::DownstreamConnection* MissingFilter::accept(net::AcceptedSocket socket,
                                                 net::ConnectionAccounts& accounts) {
  stats_.add(stats::Listener::Counter::NetworkExtensionConfigMissing);
  // Owns itself, and ends at once.
  auto* refused = new RefusedConnection(loop_, socket, accounts, {}, *this);
  return refused->start() ? refused : nullptr;
}

}  // namespace fairlead::filters
