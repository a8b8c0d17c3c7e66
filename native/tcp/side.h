// One of the two sockets of a TCP session. Bytes read here go to the other side: copied while they
// are few, spliced past user space while they are many. The worker's thread.
#pragma once

#include <memory>

#include "net/connection.h"
#include "net/splice.h"

namespace fairlead::tcp {

class Side;

// Who owns two sides.
class SideCallbacks {
 public:
  // Bytes moved from `from` to the other side.
  virtual void onMoved(Side& from) = 0;
  // The peer of `side` sends no more; all it sent was passed on.
  virtual void onEnded(Side& side) = 0;
  // Everything that waited to be written to `side` has left.
  virtual void onDrained(Side& side) = 0;
  // `side` cannot be read or written any more.
  virtual void onBroken(Side& side) = 0;
  // Connecting, or a transport's handshake, is over; `error`: errno, 0 for success.
  virtual void onConnectResult(Side& side, int error) = 0;
  // Reading of `from` was paused (or goes on) because the other side is slow.
  virtual void onFlowControl(Side& from, bool paused) = 0;

 protected:
  ~SideCallbacks() = default;
};

// Owns itself: ends through end(), and is freed with the turn.
class Side final : public net::Mortal, private net::ConnectionHandler {
 public:
  Side(net::Connection& connection, net::OutBatch& batch, net::SplicePipes& pipes,
       SideCallbacks& callbacks)
      : connection_(connection), batch_(batch), pipes_(pipes), callbacks_(callbacks) {
    connection_.setHandler(*this);
  }

  // Registers with the loop. False: the kernel refuses.
  bool start() { return connection_.start(); }
  // Relaying begins: both sides are connected.
  void join(Side& other) { other_ = &other; }
  // The other side is gone: nothing is read any more, and what waits to be written is the last.
  void part();
  void pauseReading() { connection_.pauseReading(); }
  void resumeReading() { connection_.resumeReading(); }
  // Nothing more is told to the callbacks; the socket closes.
  void end();

  uint64_t readBytes() const { return connection_.readBytes(); }
  size_t pendingBytes() const { return over_ ? 0 : connection_.pendingBytes(); }
  std::string_view transportFailure() const { return connection_.transportFailure(); }
  net::SharedTlsInfo tls() const { return connection_.tls(); }
  net::Address localAddress() const { return connection_.localAddress(); }
  bool hasEnded() const { return ended_; }

 private:
  // net::ConnectionHandler
  void onReady(int error) override { callbacks_.onConnectResult(*this, error); }
  void onReadable() override;
  void onBelowLowWatermark() override { resumeOther(); }
  void onDrained() override;
  void onWritable() override;
  void onWriteFailed() override { fail(); }

  void copyOn(const net::Connection::Read& got);
  // False: nothing more can be moved now.
  bool spliceOn();
  bool mayReadOn() const;
  bool canSplice() const;
  void finishReading();
  void resumeOther();
  void fail();

  net::Connection& connection_;  // Open until over_; gone with the turn of that.
  net::OutBatch& batch_;
  net::SplicePipes& pipes_;
  SideCallbacks& callbacks_;
  Side* other_ = nullptr;
  std::unique_ptr<net::Splice> splice_;
  bool ended_ = false;
  bool over_ = false;
  bool paused_by_other_ = false;
};

}  // namespace fairlead::tcp
