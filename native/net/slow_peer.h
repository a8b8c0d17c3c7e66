// Ends a connection whose peer is too slow: more than the buffer limit has waited to be written for
// so long (per_connection_buffer_high_watermark_timeout). Of its connection; the worker's thread.
#pragma once

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

}  // namespace fairlead::net
