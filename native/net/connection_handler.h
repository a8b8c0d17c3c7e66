// Who gives a connection's bytes their meaning: a codec, a relay, or whoever waits for a handshake.
// One at a time per connection, and replaceable. All calls are on the worker's thread.
#pragma once

#include <cstdint>

namespace fairlead::net {

class ConnectionHandler {
 public:
  // The connection is there, with its transport's handshake done; or it is not, and `error` says
  // why: errno, EPROTO where the handshake failed. Only for those that were not there from the
  // start.
  virtual void onReady(int error) {}
  // Bytes may be read (read() until it says otherwise, or pause). Also called for the peer's end.
  virtual void onReadable() = 0;
  // Pending bytes fell below half the buffer limit after having been above it.
  virtual void onBelowLowWatermark() {}
  // Everything pending was written.
  virtual void onDrained() {}
  // Writing failed: the peer is gone. Not called from inside send(): at its next event.
  virtual void onWriteFailed() = 0;
  // The peer takes too long to read what waits for it: the connection is to be closed.
  virtual void onTooSlow() { onWriteFailed(); }
  // The socket takes bytes again and nothing is pending (splice goes on from here).
  virtual void onWritable() {}
  // The peer reset the connection while reading is paused: no read would find it.
  virtual void onResetWhilePaused() {}
  // Its connection's events come next: what it points to may be fetched. A hint.
  virtual void prefetch() const {}

 protected:
  ~ConnectionHandler() = default;
};

}  // namespace fairlead::net
