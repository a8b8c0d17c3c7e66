// The name by which a request asks its host for a certificate. Pure.
#pragma once

#include <string>

#include "http/message.h"
#include "plan/plan.gen.h"

namespace fairlead::upstream {

// Of a cluster with auto_sni: what its header says, or the host that the request goes out with,
// without a port. Empty: an address, or nothing.
std::string serverNameOf(std::string_view authority, const http::HeaderMap& headers,
                         const plan::Cluster& cluster);

}  // namespace fairlead::upstream
