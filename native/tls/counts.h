// The statistics of one transport socket ("listener.<name>.ssl.", "cluster.<name>.ssl."): of
// handshakes and how they went.
#pragma once

#include <memory>

#include "stats/registry.h"
#include "tls/openssl.h"

namespace fairlead::tls {

struct Blocks {
  std::shared_ptr<stats::Block<stats::Ssl>> ssl;
  std::shared_ptr<stats::Block<stats::SslSocketFactory>> factory;
  // Of listeners: null for clusters.
  std::shared_ptr<stats::Block<stats::Listener>> listener;
};

// Of a handshake that is done: what was agreed on.
void countHandshake(SSL* ssl, stats::Shard<stats::Ssl>& stats);

// "X25519"; empty: it is unknown.
std::string_view groupName(SSL* ssl);

}  // namespace fairlead::tls
