#include "proxy/pool_use.h"

#include "upstream/server_name.h"

namespace fairlead::proxy {

upstream::PoolUse poolUseOf(std::string_view authority, const http::HeaderMap& headers,
                            const upstream::Cluster& cluster,
                            const net::DownstreamConnection& client) {
  upstream::PoolUse use;
  if (cluster.settings().auto_sni) {
    use.server_name = upstream::serverNameOf(authority, headers, cluster.settings());
  }
  if (cluster.tellsClients()) use.client = client.asProxied();
  if (cluster.settings().pools_by_client) use.client_connection = client.id() + 1;
  return use;
}

void addStates(const net::FilterState* connection, const net::FilterState* request,
               const plan::Cluster& cluster, upstream::PoolUse* use) {
  use->states = net::SharedStates::of(connection, request);
  const std::string* name = request ? request->find(net::kServerNameState) : nullptr;
  if (!name && connection) name = connection->find(net::kServerNameState);
  if (!name || name->empty()) return;
  use->asked_name = *name;
  // Certificates may still have to be for it.
  if (!cluster.auto_san_validation) use->server_name.clear();
}

}  // namespace fairlead::proxy
