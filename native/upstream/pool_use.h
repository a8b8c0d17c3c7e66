// What the requests of a pool have in common that no others have. A value.
#pragma once

#include <string>

#include "net/original_source.h"
#include "net/proxied_client.h"
#include "net/shared_states.h"

namespace fairlead::upstream {

struct PoolUse {
  // Whom they ask for over TLS, where each has its own name; empty: none has.
  std::string server_name = {};
  // Of which their certificates must have one, by line ends; empty: they need not.
  std::string wanted_names = {};
  // What they offer by ALPN, whatever the configuration says, each with its length before it;
  // empty: what that says.
  std::string protocols = {};
  // Whose they are, where hosts are told; null: anybody's.
  net::SharedProxiedClient client = nullptr;
  // What hosts are connected to from; null: this machine's own address.
  net::SharedSource source = nullptr;
  // What goes along with their connections; null: nothing. Those that share connections have what
  // the first of them had.
  net::SharedStatesPtr states = nullptr;
  // As the real server: requests of high priority do not share connections with others.
  bool is_high = false;

  // Those of one client's connection, by its number and 1, share with no other; 0: they may.
  uint64_t client_connection = 0;
  // Each is a tunnel with a connection of its own, on which no HTTP is spoken.
  bool tunnels = false;

  // Anybody's requests for any name.
  bool isCommon() const {
    return server_name.empty() && wanted_names.empty() && protocols.empty() && !client &&
           !is_high && !tunnels && client_connection == 0 && !source && !states;
  }
  // The same for the same use.
  std::string key() const {
    std::string key = server_name;
    if (is_high) key.append(1, '\1');
    if (tunnels) key.append(1, '\2');
    if (client_connection > 0) key.append(1, '\3').append(std::to_string(client_connection));
    if (!wanted_names.empty()) key.append(1, '\5').append(wanted_names);
    if (!protocols.empty()) key.append(1, '\6').append(protocols);
    if (source) key.append(1, '\4').append(source->key());
    if (states) key.append(1, '\7').append(states->key());
    if (client) key.append(1, '\0').append(client->key());
    return key;
  }
};

}  // namespace fairlead::upstream
