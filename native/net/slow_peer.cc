#include "net/slow_peer.h"

#include "net/connection.h"

namespace fairlead::net {

void SlowPeer::begin() {
  if (Timer::isArmed()) return;
  Loop& loop = connection_.loop();
  loop.timers().arm(this, loop.now() + timeout_ms_);
}

void SlowPeer::onTimer() { connection_.giveUp(); }

}  // namespace fairlead::net
