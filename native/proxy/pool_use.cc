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

}  // namespace fairlead::proxy
