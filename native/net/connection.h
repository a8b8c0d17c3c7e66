// One stream socket on one worker: its descriptor, what it is ready for, and the bytes that could
// not be written yet. Codecs and the TCP relay are built on it; they decide what bytes mean.
// Owned by whoever made it; ended through close(), which buries it with its loop.
//
// Always holds: at most one of {an edge is awaited, readable_} for reading: a handler that stops
// reading early leaves readable_ set, and resumeReading() goes on from there without a new event.
#pragma once

#include <sys/types.h>

#include "base/slab.h"
#include "net/address.h"
#include "net/event_handler.h"
#include "net/file_descriptor.h"
#include "net/loop.h"
#include "net/out_batch.h"

namespace fairlead::net {

class Connection : public EventHandler, public Mortal {
 public:
  Connection(Loop& loop, FileDescriptor fd, uint32_t buffer_limit_bytes)
      : loop_(loop), fd_(std::move(fd)), buffer_limit_bytes_(buffer_limit_bytes) {}
  ~Connection() override;

  Loop& loop() { return loop_; }
  int fd() const { return fd_.get(); }
  // Asks the kernel.
  Address localAddress() const;
  bool isOpen() const { return fd_.valid(); }

  // Sends the batch and empties it; what the socket does not take waits in slabs.
  void send(OutBatch& batch);
  // Bytes that wait to be written.
  size_t pendingBytes() const { return out_.size(); }
  // More waits than the buffer limit: who feeds this connection should pause.
  bool isOverHighWatermark() const { return out_.size() > buffer_limit_bytes_; }
  bool isWritable() const { return writable_ && out_.empty(); }
  void markUnwritable() { writable_ = false; }

  // Reading pauses by count: as many resumes as pauses. Resuming may call onReadable() at once.
  void pauseReading() { ++read_pauses_; }
  void resumeReading();
  bool isReadingPaused() const { return read_pauses_ > 0; }
  bool isReadable() const { return readable_; }
  void markUnreadable() { readable_ = false; }
  bool hasPeerEnded() const { return peer_ended_; }

  // shutdown(2) of the writing side, now or once all pending bytes are written.
  void endWriting();
  // Ends the connection at once, pending bytes and all; the object lives until the turn ends.
  // `kReset`: the peer gets a reset instead of an end.
  enum class CloseKind : uint8_t { Fin, Reset };
  void close(CloseKind kind = CloseKind::Fin);

  void onEvents(uint32_t events) override;

 protected:
  enum class ReadResult : uint8_t { Data, Nothing, End, Failed };
  struct Read {
    ReadResult result;
    char* data;
    size_t size;
  };
  // Who paused reading has gone.
  void forgetPauses() { read_pauses_ = 0; }
  // Reads once into the loop's buffer, behind `headroom` bytes. After a short read no further edge
  // is waited out with a read that only says EAGAIN.
  Read read(size_t headroom = 0);

  // Bytes may be read (read() until it says otherwise, or pause). Also called for the peer's end.
  virtual void onReadable() = 0;
  // Pending bytes fell below half the buffer limit after having been above it.
  virtual void onBelowLowWatermark() {}
  // Everything pending was written.
  virtual void onDrained() {}
  // Writing failed: the peer is gone. Not called from inside send(): at its next event.
  virtual void onWriteFailed() = 0;
  // The socket takes bytes again and nothing is pending (splice goes on from here).
  virtual void onWritable() {}
  // Before an event is handled: connecting sockets look at their result here. False: handled.
  virtual bool onFirstEvent(uint32_t events) { return true; }

  bool failed_ = false;  // A write failed; onWriteFailed() is due or done.
  uint64_t read_bytes_ = 0;
  uint64_t written_bytes_ = 0;

 private:
  void flushPending();
  void keepUnsent(OutBatch& batch, size_t sent);

  Loop& loop_;
  FileDescriptor fd_;
  SlabChain out_;
  uint32_t buffer_limit_bytes_;
  uint16_t read_pauses_ = 0;
  bool readable_ = false;
  bool writable_ = true;
  bool peer_ended_ = false;
  bool end_writing_ = false;
  bool over_high_ = false;
};

}  // namespace fairlead::net
