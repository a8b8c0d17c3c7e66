// Begins connections to hosts. The worker's thread.
#pragma once

#include <string>

#include "net/connection.h"
#include "upstream/cluster.h"
#include "upstream/host.h"

namespace fairlead::upstream {

// What a connection is for, beyond its host.
struct ConnectionUse {
  // What the host is asked for over TLS, and what its certificate must be for; empty: as the
  // cluster's configuration has it.
  std::string_view asked_name = {};
  std::string_view wanted_name = {};
  // Whom the host may be told of; null: nobody.
  const net::ProxiedClient* client = nullptr;
  // What it is offered by ALPN where the configuration names nothing.
  std::string_view protocols = {};
  // The CONNECT that the host, a proxy, hears first; empty: none.
  std::string tunnel_head = {};
};

// The connection owns itself, and tells a handler that is set at once what becomes of it. Null: the
// kernel refuses at once, and `error` is its errno.
net::Connection* beginConnection(const Host& host, const Cluster& cluster, net::Loop& loop,
                                 unsigned worker, int* error, const ConnectionUse& use = {});

}  // namespace fairlead::upstream
