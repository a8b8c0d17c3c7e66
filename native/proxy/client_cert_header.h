// x-forwarded-client-cert: what hosts are told of the client's certificate. Pure.
#pragma once

#include <vector>

#include "base/arena.h"
#include "http/message.h"
#include "match/match_tree.h"
#include "net/tls_info.h"
#include "plan/plan.gen.h"

namespace fairlead::proxy {

// What becomes of it.
struct ClientCertForwarding {
  plan::HttpConnectionManager::ForwardClientCert mode;
  // Null: as little as there may be.
  const plan::ClientCertDetails* details;
};

// The same, by requests.
struct ClientCertTree {
  match::MatchTree tree;
  std::vector<plan::ClientCertAction> actions;

  // `otherwise`: where nothing fits.
  ClientCertForwarding find(const match::Facts& facts, ClientCertForwarding otherwise) const;
};

// Leaves, removes, sets or adds to it, as the configuration wants. `tls`: null: the client does not
// speak TLS.
void forwardClientCert(http::HeaderMap& headers, const ClientCertForwarding& forwarding,
                       const net::TlsInfo* tls, Arena& arena);

}  // namespace fairlead::proxy
