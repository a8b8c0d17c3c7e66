// Begins connections to hosts. The worker's thread.
#pragma once

#include "net/connection.h"
#include "upstream/cluster.h"
#include "upstream/host.h"

namespace fairlead::upstream {

// What a host is asked for over TLS, and what its certificate must be for; empty: as the cluster's
// configuration has it. And the protocols that it is offered where the configuration names none.
struct WantedTls {
  std::string_view asked_name = {};
  std::string_view certificate_name = {};
  std::string_view protocols = {};
};

// The connection owns itself, and tells a handler that is set at once what becomes of it. Null: the
// kernel refuses at once, and `error` is its errno.
net::Connection* beginConnection(const Host& host, const Cluster& cluster, net::Loop& loop,
                                 unsigned worker, int* error, const WantedTls& tls = {});

}  // namespace fairlead::upstream
