// The name by which a request asks its host for a certificate. Pure.
#pragma once

#include <string>

#include "http/message.h"
#include "plan/plan.gen.h"
#include "upstream/pool_use.h"

namespace fairlead::upstream {

bool isIp(std::string_view name);

// Of a cluster with auto_sni: what its header says, or the host that the request goes out with,
// without a port. Empty: nothing. An address, which is no name to ask for, only where the cluster
// wants certificates for it.
std::string serverNameOf(std::string_view authority, const http::HeaderMap& headers,
                         const plan::Cluster& cluster);

// The same of what is asked for and wanted with a pool's connections.
void useServerName(std::string_view authority, const http::HeaderMap& headers,
                   const plan::Cluster& cluster, PoolUse* use);

}  // namespace fairlead::upstream
