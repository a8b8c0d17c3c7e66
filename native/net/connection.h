// One stream socket on one worker: its descriptor, its transport, what it is ready for, and the
// bytes that could not be written yet. Who gives the bytes a meaning is its handler. Owned by
// whoever made it until start(); from then on by itself: it ends through close(), which buries it
// with its loop.
//
// Always holds: at most one of {an edge is awaited, readable_} for reading: a handler that stops
// reading early leaves readable_ set, and a resume goes on from there without a new event.
//
// Nobody reads another's socket: a resume never reads at once but at the end of the turn, so that
// inside of a handler only that handler's connection is read. What is queued for other connections
// leaves then as well, in one system call each. And nobody reads more than kTurnBytes in one turn:
// with more a connection goes on in the next, so that the others of its worker are not kept
// waiting.
#pragma once

#include <sys/types.h>

#include <memory>

#include "base/slab.h"
#include "net/address.h"
#include "net/connection_handler.h"
#include "net/event_handler.h"
#include "net/file_descriptor.h"
#include "net/loop.h"
#include "net/out_batch.h"
#include "net/transport.h"

namespace fairlead::net {

class Connection final : public EventHandler, public Mortal, private Deferred {
 public:
  static constexpr size_t kTurnBytes = 2 * Loop::kReadBufferBytes;

  // Whether the socket is connected already, or connect(2) was begun.
  enum class Start : uint8_t { Established, Connecting };

  // Needs a handler before it starts.
  Connection(Loop& loop, FileDescriptor fd, uint32_t buffer_limit_bytes,
             Start start = Start::Established, std::unique_ptr<Transport> transport = nullptr);
  ~Connection() override;

  // Before it starts: its peer may leave more than the buffer limit waiting for so long; 0: for
  // ever.
  void limitSlowness(Millis timeout_ms) {
    if (timeout_ms == 0) return;
    loop_.slowPeers().limit(*this, timeout_ms);
    is_slowness_limited_ = true;
  }
  // Its peer was too slow.
  void giveUp();
  // Registers with the loop. False: the kernel refuses; the connection must be closed.
  bool start() { return loop_.add(fd_.get(), this); }
  // Another socket, which is connected or has failed to, in the place of the one that connects,
  // which closes. Its events come as those of any other.
  void replaceSocket(FileDescriptor fd);
  // Everything from here on is told to `handler`. What can be read already is told at the end of
  // the turn.
  void setHandler(ConnectionHandler& handler);

  Loop& loop() { return loop_; }
  int fd() const { return fd_.get(); }
  // Null: a raw socket.
  Transport* transport() const { return transport_.get(); }
  // Null: it does not speak TLS.
  SharedTlsInfo tls() const { return transport_ ? transport_->tls() : nullptr; }
  // Why its transport failed; empty: nothing is known.
  std::string_view transportFailure() const {
    if (transport_ && !transport_->failure().empty()) return transport_->failure();
    const SharedTlsInfo info = tls();
    return info ? info->failure() : std::string_view();
  }
  // These ask the kernel.
  Address localAddress() const;
  Address remoteAddress() const;
  bool isOpen() const { return fd_.valid(); }

  // ---- writing ----

  // Sends the batch and empties it; what the socket does not take waits in slabs.
  void send(OutBatch& batch);
  // The same, but what is short may leave a little later, before the turn ends: whoever then acts
  // on what has not left yet settles first. Ending, sending and queueing do so themselves.
  void sendSoon(OutBatch& batch);
  // What sendSoon() left behind leaves.
  void settle() {
    if (is_posted_) [[unlikely]]
      loop_.batch()->deliver();
  }
  // Of OutBatch alone: what was posted.
  void deliver(std::string_view bytes);
  // Waits in slabs for the end of the turn: what several give leaves at once.
  void queue(std::string_view bytes);
  // What is sent now goes to the socket, behind the little that is queued.
  bool takesNow() const {
    return writable_ && !failed_ && phase_ == Phase::Open && out_.size() <= kMostBefore;
  }
  uint32_t bufferLimit() const { return buffer_limit_bytes_; }
  // Bytes that wait to be written.
  size_t pendingBytes() const { return out_.size(); }
  size_t pendingMemory() const { return out_.memory(); }
  // More waits than the buffer limit: who feeds this connection should pause.
  bool isOverHighWatermark() const { return out_.size() > buffer_limit_bytes_; }
  bool isWritable() const { return writable_ && out_.empty(); }
  void markUnwritable() { writable_ = false; }
  bool hasFailed() const { return failed_; }
  // The peer has reset it.
  bool wasReset() const { return was_reset_; }
  // shutdown(2) of the writing side, now or once all pending bytes are written.
  void endWriting();

  // ---- reading ----

  enum class ReadResult : uint8_t { Data, Nothing, End, Failed };
  struct Read {
    ReadResult result;
    char* data;
    size_t size;
  };
  // Reads once into the loop's buffer, behind `headroom` bytes. After a short read of a raw socket
  // no further edge is waited out with a read that only says EAGAIN. Nothing, and still readable:
  // it has had its share of this turn, and is told again in the next.
  Read read(size_t headroom = 0);
  // Reading pauses by count: as many resumes as pauses.
  void pauseReading() {
    ++read_pauses_;
    // No event will tell of it again.
    if (was_reset_) readSoon();
  }
  void resumeReading();
  bool isReadingPaused() const { return read_pauses_ > 0; }
  // Who paused reading has gone.
  void forgetPauses() { read_pauses_ = 0; }
  // The handler hears onReadable() at the end of the turn, or in the next turn, unless reading is
  // paused by then.
  void readSoon() {
    read_due_ = true;
    loop_.defer(this);
  }
  void readNextTurn() {
    read_due_ = true;
    loop_.yield(this);
  }
  // A transport has bytes, or room, that no event of the socket tells of.
  void wake(uint32_t events);
  // Many exchanges share it: it has the share of some connections.
  void readMore() { reads_more_ = true; }
  bool isReadable() const { return readable_; }
  void markUnreadable() { readable_ = false; }
  bool hasPeerEnded() const { return peer_ended_; }

  uint64_t readBytes() const { return read_bytes_; }
  uint64_t writtenBytes() const { return written_bytes_; }
  // What was read was thrown away.
  void uncountRead(size_t bytes) { read_bytes_ -= bytes; }
  // Bytes that moved past this object (splice).
  void countSpliced(uint64_t read, uint64_t written) {
    read_bytes_ += read;
    written_bytes_ += written;
  }

  // Ends the connection at once, pending bytes and all; the object lives until the turn ends.
  // `kReset`: the peer gets a reset instead of an end.
  enum class CloseKind : uint8_t { Fin, Reset };
  void close(CloseKind kind = CloseKind::Fin);

  void onEvents(uint32_t events) override;
  void onTurnEnd() override;
  void prefetch(Ahead) const override;

 private:
  // What is queued is sent along with a batch, not the batch queued behind it.
  static constexpr size_t kMostBefore = 2 * Slab::kBytes;
  static constexpr size_t kMostTurnBytes = 4 * kTurnBytes;
  static constexpr int kTurnBits = 12;
  static_assert(kMostTurnBytes < size_t{1} << (32 - kTurnBits));

  enum class Phase : uint8_t { Connecting, Handshaking, Open };

  // net::Deferred
  void onDeferred() override;

  // False: there is nothing more to do with these events.
  bool establish(uint32_t events);
  void onRoom();
  void letRead();
  uint32_t thisTurn() const { return loop_.turnNumber() % (1u << kTurnBits); }
  bool hasReadItsShare() const {
    return turn_ == thisTurn() && turn_bytes_ >= (reads_more_ ? kMostTurnBytes : kTurnBytes);
  }
  void countTowardsShare(uint32_t bytes);
  // Bytes taken; -1 with errno.
  ssize_t write(const iovec* parts, int count);
  // Bytes that left. None: the socket has no room, or has failed, which is noted.
  size_t writeSome(const iovec* parts, int count);
  void flushPending();
  void afterFlush();
  bool mayPost(const OutBatch& batch) const {
    return loop_.batch() == &batch && batch.mayBePosted() && !batch.mayWait() && takesNow() &&
           out_.empty() && !is_posted_ && isOpen() && batch.size() <= buffer_limit_bytes_;
  }
  void keepUnsent(OutBatch& batch, size_t sent);
  void queueAll(OutBatch& batch);
  void noteHigh() {
    if (!isOverHighWatermark()) return;
    over_high_ = true;
    if (is_slowness_limited_) loop_.slowPeers().of(*this).begin();
  }
  // Bytes of the batch that were sent.
  size_t sendBehindQueue(OutBatch& batch);
  void shutdownWriting();

  Loop& loop_;
  ConnectionHandler* handler_ = nullptr;
  std::unique_ptr<Transport> transport_;
  SlabChain out_;
  uint64_t read_bytes_ = 0;
  uint64_t written_bytes_ = 0;
  // The latest turn in which it read, and how much, counted up to kMostTurnBytes. That the turn may
  // be another one of the same number costs no more than a wait for the next.
  uint32_t turn_ : kTurnBits = 0;
  uint32_t turn_bytes_ : 32 - kTurnBits = 0;
  FileDescriptor fd_;
  uint32_t buffer_limit_bytes_;
  uint8_t read_pauses_ = 0;
  uint8_t woken_ = 0;  // Events of wake() that are still to be handled.
  Phase phase_ : 2;
  bool tells_ready_ : 1;        // The handler waits for onReady().
  bool read_due_ : 1 = false;   // Of readSoon().
  bool is_posted_ : 1 = false;  // sendSoon() left bytes behind, which count as written.
  bool queued_ : 1 = false;     // Bytes wait for the end of the turn.
  bool drained_ : 1 = false;    // They have gone before it.
  bool reads_more_ : 1 = false;
  bool readable_ : 1 = false;
  bool writable_ : 1 = true;
  bool peer_ended_ : 1 = false;
  bool was_reset_ : 1 = false;  // By the peer; no later event will tell of it again.
  bool end_writing_ : 1 = false;
  bool over_high_ : 1 = false;
  bool is_slowness_limited_ : 1 = false;
  bool failed_ : 1 = false;  // A write failed; onWriteFailed() is due or done.
};

}  // namespace fairlead::net
