// Begins connections to hosts. The worker's thread.
#pragma once

#include "net/connection.h"
#include "upstream/cluster.h"
#include "upstream/host.h"

namespace fairlead::upstream {

// The connection owns itself, and tells a handler that is set at once what becomes of it. Null: the
// kernel refuses at once, and `error` is its errno.
net::Connection* beginConnection(const Host& host, const Cluster& cluster, net::Loop& loop,
                                 int* error);

}  // namespace fairlead::upstream
