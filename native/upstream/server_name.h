// The name by which a request asks its host for a certificate. Pure.
#pragma once

#include <string_view>

#include "http/message.h"
#include "plan/plan.gen.h"
#include "upstream/pool_use.h"

namespace fairlead::upstream {

// Of a cluster with auto_sni: what its header says, or the host that the request goes out with,
// without a port, is what hosts are asked for over TLS and, where the cluster wants that, what
// their certificates must be for. An address is no name to ask for.
void useServerName(std::string_view authority, const http::HeaderMap& headers,
                   const plan::Cluster& cluster, PoolUse* use);

}  // namespace fairlead::upstream
