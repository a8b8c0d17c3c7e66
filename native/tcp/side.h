// One end of a TCP session: a socket, or a stream to a host that tunnels. Bytes that come from it
// go to the other side. Owns itself: ends through end(), and is freed with the turn. The worker's
// thread.
#pragma once

#include "net/connection.h"

namespace fairlead::tcp {

class Side;

// Who owns two sides.
class SideCallbacks {
 public:
  // Bytes, or the peer's end, have come from `from`. False: `from` is over, and they go nowhere.
  virtual bool mayMove(Side& from) { return true; }
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
  // Bytes, or the peer's end, have come before there is another side.
  virtual void onEarly(Side& from) {}
  // Reading of `from` was paused (or goes on) because the other side is slow.
  virtual void onFlowControl(Side& from, bool paused) = 0;

 protected:
  ~SideCallbacks() = default;
};

class Side : public net::Mortal {
 public:
  explicit Side(SideCallbacks& callbacks) : callbacks_(callbacks) {}

  // Relaying begins: both sides are there.
  void join(Side& other) { other_ = &other; }
  // The other side is gone: nothing is read any more, and what waits to be written is the last.
  void part() {
    other_ = nullptr;
    stopReading();
    endWriting();
  }
  // Nothing more is told to the callbacks; it closes, and a socket's peer gets an end or a reset.
  virtual void end(net::Connection::CloseKind kind) = 0;
  // Its peer has reset it.
  virtual bool wasReset() const = 0;
  // Who ends one half of it ends both.
  virtual bool endsWhole() const { return false; }
  virtual void pauseReading() = 0;
  virtual void resumeReading() = 0;

  // What came of it so far.
  virtual uint64_t readBytes() const = 0;
  // What waits here to be written.
  virtual size_t pendingBytes() const = 0;
  // A reset would lose what has been written.
  virtual bool wouldLose() const { return pendingBytes() > 0; }
  bool hasEnded() const { return ended_; }

  // ---- for the other side ----

  // Gathers bytes, whose memory stays until flush(); then they are on their way.
  virtual void write(std::string_view data) = 0;
  virtual void flush() = 0;
  virtual void endWriting() = 0;
  virtual bool isOverHighWatermark() const = 0;
  // Where bytes may go past user space; null: they may not.
  virtual net::Connection* raw() = 0;
  void fail() {
    if (!over_) callbacks_.onBroken(*this);
  }
  // There is room in the other side.
  virtual void onOtherWritable() {}

 protected:
  virtual void stopReading() {}
  // Its peer has ended; all has been passed on.
  void finishReading() {
    ended_ = true;
    other_->endWriting();
    callbacks_.onEnded(*this);
  }
  // Pauses, once, where the other side takes no more for now. True: it was so.
  bool pauseForOther() {
    if (paused_by_other_) return true;
    if (!other_->isOverHighWatermark()) return false;
    paused_by_other_ = true;
    pauseReading();
    callbacks_.onFlowControl(*this, true);
    return true;
  }
  // What waited here has become less: the other side may go on.
  void resumeOther() {
    if (!other_ || over_ || !other_->paused_by_other_ || isOverHighWatermark()) return;
    other_->paused_by_other_ = false;
    callbacks_.onFlowControl(*other_, false);
    other_->resumeReading();
  }

  SideCallbacks& callbacks_;
  // Null: relaying has not begun, or it is gone.
  Side* other_ = nullptr;
  bool ended_ = false;
  bool over_ = false;

 private:
  bool paused_by_other_ = false;
};

}  // namespace fairlead::tcp
