// What the connection of one session counts on its cluster and its host, where it is the session's
// own: as if it were a pool's, and the session its request. The worker's thread.
#pragma once

#include <cstdint>

#include "upstream/worker_cluster.h"

namespace fairlead::tcp {

class ConnectionCounts {
 public:
  // Takes from the cluster's budget. `is_http1`: its host is spoken to in HTTP/1 first.
  void begin(upstream::WorkerCluster& cluster, upstream::Host& host, bool is_http1);
  // `error`: as upstream::beginConnect() tells.
  void connectFailed(bool timeout, int error);
  // The host did not grant the tunnel that it was asked for, once it was there: a request that
  // ended from here. `is_broken`: its answer was none.
  void tunnelRefused(bool is_broken);
  // The host is there; of a tunnel, and has been asked for it.
  void connected();
  // What logs call it.
  uint64_t id() const { return id_; }
  // Gives back. Of none: nothing.
  void end(bool by_peer);

 private:
  enum class State : uint8_t { None, Connecting, Failed, Connected };

  upstream::Limits& limits();
  upstream::HostCounters& hostCounters();

  upstream::WorkerCluster* cluster_ = nullptr;
  // The session holds it.
  upstream::Host* host_ = nullptr;
  uint64_t started_us_ = 0;
  uint64_t id_ = 0;
  State state_ = State::None;
  bool is_http1_ = false;
};

}  // namespace fairlead::tcp
