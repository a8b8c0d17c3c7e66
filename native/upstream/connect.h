// Begins connections to hosts. The worker's thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "http/connect_transport.h"
#include "net/connection.h"
#include "net/internal_listeners.h"
#include "net/original_source.h"
#include "net/shared_states.h"
#include "upstream/cluster.h"
#include "upstream/host.h"

namespace fairlead::upstream {

// By ALPN, to a host that may be spoken to in either.
inline constexpr std::string_view kByAlpn = "\x02h2\x08http/1.1";

// What a connection is for, beyond its host.
struct ConnectionUse {
  // What the host is asked for over TLS, what its certificate must be for one of, by line ends, and
  // what it is offered by ALPN, each with its length before it; empty: as the cluster's
  // configuration has it.
  std::string_view asked_name = {};
  std::string_view wanted_names = {};
  std::string_view chosen_protocols = {};
  // Whom the host may be told of; null: nobody.
  const net::ProxiedClient* client = nullptr;
  // What the host is connected to from; null: as the cluster's configuration has it.
  const net::OriginalSource* source = nullptr;
  // What an internal listener is told of; null: nothing.
  const net::SharedStates* states = nullptr;
  // What it is offered by ALPN where the configuration names nothing.
  std::string_view protocols = {};
  // Where it goes in place of the host's own address, and how; null: as for all of its connections.
  const net::Address* address = nullptr;
  const net::SharedTransport* transport = nullptr;
  // Where each further address of the host that is tried counts as a connection; null: nowhere.
  // Both outlive the connection.
  stats::Shard<stats::Cluster>* stats = nullptr;
  HostCounters* host_counters = nullptr;
  // Where hosts are that are listeners of this process; null: nowhere.
  net::InternalListeners* internal_listeners = nullptr;
  // Where the head of the answer goes to the CONNECT that the host, a proxy, hears first; null: it
  // hears none.
  std::shared_ptr<http::ConnectAnswer> tunnel_answer = {};
  // That CONNECT; empty: what it would be makes no sense, and the host is told nothing.
  std::string tunnel_head = {};
};

// The connection owns itself, and tells a handler that is set at once what becomes of it. Null: the
// system refuses at once, and `error` is its errno, negative where it is that of the own address.
net::Connection* beginConnection(const Host& host, const Cluster& cluster, net::Loop& loop,
                                 unsigned worker, int* error, const ConnectionUse& use = {});

// What is told of a connection that the system has refused at once, with this error. `from`: as in
// its ConnectionUse.
std::string refusalText(const Host& host, const Cluster& cluster, const net::OriginalSource* from,
                        int error);

}  // namespace fairlead::upstream
