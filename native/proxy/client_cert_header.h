// x-forwarded-client-cert: what hosts are told of the client's certificate. Pure.
#pragma once

#include "base/arena.h"
#include "http/message.h"
#include "net/tls_info.h"
#include "plan/plan.gen.h"

namespace fairlead::proxy {

// Leaves, removes, sets or adds to it, as the configuration wants. `tls`: null: the client does not
// speak TLS.
void forwardClientCert(http::HeaderMap& headers, const plan::HttpConnectionManager& plan,
                       const net::TlsInfo* tls, Arena& arena);

}  // namespace fairlead::proxy
