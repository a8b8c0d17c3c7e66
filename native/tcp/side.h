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
  // Connecting is over; `error`: errno, 0 for success.
  virtual void onConnectResult(Side& side, int error) = 0;
  // Reading of `from` was paused (or goes on) because the other side is slow.
  virtual void onFlowControl(Side& from, bool paused) = 0;

 protected:
  ~SideCallbacks() = default;
};

class Side final : public net::Connection, private net::Deferred {
 public:
  Side(net::Loop& loop, net::FileDescriptor fd, uint32_t buffer_limit_bytes, net::OutBatch& batch,
       net::SplicePipes& pipes, SideCallbacks& callbacks, bool connecting)
      : Connection(loop, std::move(fd), buffer_limit_bytes),
        batch_(batch),
        pipes_(pipes),
        callbacks_(callbacks),
        connecting_(connecting) {}

  // Relaying begins: both sides are connected.
  void join(Side& other);
  // The other side is gone: nothing is read any more, and what waits to be written is the last.
  void part();
  // Sends what is readable now, and everything from then on.
  void relay();
  void writeAll(std::string_view bytes);
  // Nothing more is told to the callbacks; the socket closes.
  void end(CloseKind kind = CloseKind::Fin);

  uint64_t readBytes() const { return read_bytes_; }
  uint64_t writtenBytes() const { return written_bytes_; }
  bool hasEnded() const { return ended_; }

 private:
  void onReadable() override { relay(); }
  void onBelowLowWatermark() override { resumeOther(); }
  void onDrained() override;
  void onWritable() override;
  void onWriteFailed() override { fail(); }
  bool onFirstEvent(uint32_t events) override;
  void onDeferred() override { relay(); }

  void copyOn(const Read& got);
  // False: nothing more can be moved now.
  bool spliceOn();
  void finishReading();
  void resumeOther();
  void fail();

  net::OutBatch& batch_;
  net::SplicePipes& pipes_;
  SideCallbacks& callbacks_;
  Side* other_ = nullptr;
  std::unique_ptr<net::Splice> splice_;
  bool connecting_;
  bool ended_ = false;
  bool over_ = false;
  bool paused_by_other_ = false;
};

}  // namespace fairlead::tcp
