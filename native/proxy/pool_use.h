// Which requests of a cluster may share connections to its hosts. Pure.
#pragma once

#include "http/message.h"
#include "net/downstream_connection.h"
#include "upstream/cluster.h"
#include "upstream/pool_use.h"

namespace fairlead::proxy {

// Of a cluster whose requests do not share all connections.
inline bool hasSpecialUses(const upstream::Cluster& cluster) {
  return cluster.settings().auto_sni || cluster.settings().pools_by_client ||
         cluster.tellsClients();
}

// Of a request as it goes out.
upstream::PoolUse poolUseOf(std::string_view authority, const http::HeaderMap& headers,
                            const upstream::Cluster& cluster,
                            const net::DownstreamConnection& client);

// What is kept with a request and its connection, null: nothing is. After all else that names
// hosts.
void addStates(const net::FilterState* connection, const net::FilterState* request,
               upstream::PoolUse* use);

}  // namespace fairlead::proxy
