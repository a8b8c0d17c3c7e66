// What the requests of a pool have in common that no others have. A value.
#pragma once

#include <string>

#include "net/proxied_client.h"

namespace fairlead::upstream {

struct PoolUse {
  // Whom they ask for over TLS, where each has its own name; empty: none has.
  std::string server_name = {};
  // Whose they are, where hosts are told; null: anybody's.
  net::SharedProxiedClient client = nullptr;

  // Each is a tunnel with a connection of its own, on which no HTTP is spoken.
  bool tunnels = false;

  // Anybody's requests for any name.
  bool isCommon() const { return server_name.empty() && !client && !tunnels; }
  // The same for the same use.
  std::string key() const {
    std::string key = server_name;
    if (tunnels) key.append(1, '\1');
    if (client) key.append(1, '\0').append(client->key());
    return key;
  }
};

}  // namespace fairlead::upstream
