#include "proxy/pool_use.h"

#include "upstream/server_name.h"
#include "upstream/state_wishes.h"

namespace fairlead::proxy {

upstream::PoolUse poolUseOf(std::string_view authority, const http::HeaderMap& headers,
                            const upstream::Cluster& cluster,
                            const net::DownstreamConnection& client) {
  upstream::PoolUse use;
  if (cluster.settings().auto_sni) {
    upstream::useServerName(authority, headers, cluster.settings(), &use);
  }
  if (cluster.tellsClients()) use.client = client.asProxied();
  if (cluster.settings().pools_by_client) use.client_connection = client.id() + 1;
  return use;
}

void addStates(const net::FilterState* connection, const net::FilterState* request,
               upstream::PoolUse* use) {
  use->states = net::SharedStates::of(connection, request);
  upstream::tlsWishesOf(connection, request).tell(use);
}

}  // namespace fairlead::proxy
