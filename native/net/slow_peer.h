// Ends a connection whose peer is too slow: more than the buffer limit has waited to be written for
// so long (per_connection_buffer_high_watermark_timeout). Of its connection; the worker's thread.
#pragma once

#include <memory>
#include <unordered_map>

#include "net/timer_wheel.h"

namespace fairlead::net {

class Connection;

class SlowPeer final : private Timer {
 public:
  SlowPeer(Connection& connection, Millis timeout_ms)
      : connection_(connection), timeout_ms_(timeout_ms) {}

  // More than the limit waits. Once it does this may be told again.
  void begin();
  // Less waits than half of it, or the connection is over.
  void end() { Timer::disarm(); }

 private:
  void onTimer() override;

  Connection& connection_;
  const Millis timeout_ms_;
};

// Those of a loop's connections. Beside them, as few connections have one and each is small. The
// worker's thread.
class SlowPeers {
 public:
  void limit(Connection& connection, Millis timeout_ms) {
    peers_[&connection] = std::make_unique<SlowPeer>(connection, timeout_ms);
  }
  // Of one that is limited.
  SlowPeer& of(const Connection& connection) { return *peers_.find(&connection)->second; }
  void forget(const Connection& connection) { peers_.erase(&connection); }

 private:
  std::unordered_map<const Connection*, std::unique_ptr<SlowPeer>> peers_;
};

}  // namespace fairlead::net
