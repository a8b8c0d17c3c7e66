#include "net/connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/prefetch.h"
#include "base/stale.h"

namespace fairlead::net {

namespace {
constexpr uint32_t kEnds = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
// What most handlers take.
constexpr size_t kHandlerBytes = 256;
}  // namespace

Connection::Connection(Loop& loop, FileDescriptor fd, uint32_t buffer_limit_bytes, Start start,
                       std::unique_ptr<Transport> transport)
    : loop_(loop),
      transport_(std::move(transport)),
      fd_(std::move(fd)),
      buffer_limit_bytes_(buffer_limit_bytes),
      phase_(start == Start::Connecting ? Phase::Connecting
             : transport_               ? Phase::Handshaking
                                        : Phase::Open),
      tells_ready_(phase_ != Phase::Open) {
  if (transport_) transport_->attach(*this);
}

Connection::~Connection() {
  out_.clear(loop_.slabs());
  if (queued_) loop_.forget(this);
  if (is_slowness_limited_) loop_.slowPeers().forget(*this);
}

Address Connection::localAddress() const {
  sockaddr_storage storage;
  socklen_t size = sizeof(storage);
  auto* raw = reinterpret_cast<sockaddr*>(&storage);
  return ::getsockname(fd_.get(), raw, &size) == 0 ? Address::fromKernel(raw, size) : Address();
}

Address Connection::remoteAddress() const {
  sockaddr_storage storage;
  socklen_t size = sizeof(storage);
  auto* raw = reinterpret_cast<sockaddr*>(&storage);
  return ::getpeername(fd_.get(), raw, &size) == 0 ? Address::fromKernel(raw, size) : Address();
}

void Connection::setHandler(ConnectionHandler& handler) {
  handler_ = &handler;
  if (readable_) readSoon();
}

void Connection::replaceSocket(FileDescriptor fd) {
  if (!isOpen()) return;
  FL_DCHECK(phase_ == Phase::Connecting);
  fd_ = std::move(fd);
  // What is not watched is told of now.
  if (!start()) wake(EPOLLIN | EPOLLOUT);
}

// ---- writing ----

ssize_t Connection::write(const iovec* parts, int count) {
  if (transport_) return transport_->write(fd_.get(), parts, count);
  if (count == 1) return ::send(fd_.get(), parts[0].iov_base, parts[0].iov_len, MSG_NOSIGNAL);
  msghdr message = {};
  message.msg_iov = const_cast<iovec*>(parts);
  message.msg_iovlen = static_cast<size_t>(count);
  return ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL);
}

size_t Connection::writeSome(const iovec* parts, int count) {
  const ssize_t result = write(parts, count);
  if (result >= 0) {
    written_bytes_ += static_cast<uint64_t>(result);
    return static_cast<size_t>(result);
  }
  if (errno == EAGAIN || errno == EINTR) {
    writable_ = false;
  } else {
    failed_ = true;
  }
  return 0;
}

void Connection::sendSoon(OutBatch& batch) {
  if (!mayPost(batch)) return send(batch);
  written_bytes_ += batch.size();
  is_posted_ = true;
  batch.post(*this);
}

void Connection::deliver(std::string_view bytes) {
  is_posted_ = false;
  written_bytes_ -= bytes.size();
  if (failed_) return;
  const iovec part = {const_cast<char*>(bytes.data()), bytes.size()};
  const size_t sent = writeSome(&part, 1);
  if (failed_ || sent == bytes.size()) return;
  writable_ = false;
  out_.append(loop_.slabs(), bytes.substr(sent));
  noteHigh();
}

void Connection::send(OutBatch& batch) {
  settle();
  if (batch.empty()) return;
  if (!isOpen() || failed_) {
    batch.clear();
    return;
  }
  if (batch.mayWait()) [[unlikely]] {
    queueAll(batch);
    return;
  }
  size_t sent = 0;
  if (!out_.empty()) [[unlikely]] {
    if (takesNow()) sent = sendBehindQueue(batch);
  } else if (writable_ && phase_ == Phase::Open) {
    sent = writeSome(batch.parts(), batch.partCount());
    if (failed_) {
      batch.clear();
      return;
    }
    if (sent < batch.size()) writable_ = false;
  }
  if (sent < batch.size()) keepUnsent(batch, sent);
  batch.clear();
}

void Connection::queueAll(OutBatch& batch) {
  for (int i = 0; i < batch.partCount(); ++i) {
    const iovec& part = batch.parts()[i];
    queue({static_cast<const char*>(part.iov_base), part.iov_len});
  }
  batch.clear();
}

size_t Connection::sendBehindQueue(OutBatch& batch) {
  constexpr int kMostParts = OutBatch::kMaxParts;
  iovec parts[kMostParts];
  const int before = out_.gather(parts, kMostParts);
  if (before + batch.partCount() > kMostParts) return 0;
  std::copy_n(batch.parts(), batch.partCount(), parts + before);
  const size_t sent = writeSome(parts, before + batch.partCount());
  if (sent == 0) return 0;
  const size_t of_queue = std::min(sent, out_.size());
  if (sent < out_.size() + batch.size()) writable_ = false;
  out_.consume(loop_.slabs(), of_queue);
  if (out_.empty()) drained_ = true;
  return sent - of_queue;
}

void OutBatch::sendToOwner() { owner_->send(*this); }

void OutBatch::deliver() {
  const int count = std::exchange(posted_count_, 0);
  for (int i = 0; i < count; ++i) posted_[i].to->deliver(posted_[i].bytes);
  kept_end_ = scratch_.get();
  if (empty()) clear();
}

void Connection::queue(std::string_view bytes) {
  settle();
  if (!isOpen() || failed_) return;
  out_.append(loop_.slabs(), bytes);
  noteHigh();
  if (!queued_) loop_.flushAtEnd(this);
  queued_ = true;
}

void Connection::keepUnsent(OutBatch& batch, size_t sent) {
  for (int i = 0; i < batch.partCount(); ++i) {
    const iovec& part = batch.parts()[i];
    if (sent >= part.iov_len) {
      sent -= part.iov_len;
      continue;
    }
    out_.append(loop_.slabs(), {static_cast<char*>(part.iov_base) + sent, part.iov_len - sent});
    sent = 0;
  }
  noteHigh();
}

void Connection::onTurnEnd() {
  queued_ = false;
  const bool was_drained = drained_;
  drained_ = false;
  if (!isOpen() || failed_ || phase_ != Phase::Open) return;
  if (out_.empty() ? !was_drained : !writable_) return;
  if (!out_.empty()) flushPending();
  // A failure is told with the next event, as that of send() is: the peer's end brings one.
  if (!failed_) afterFlush();
}

void Connection::flushPending() {
  while (!out_.empty()) {
    iovec parts[16];
    const int count = out_.gather(parts, 16);
    const size_t sent = writeSome(parts, count);
    if (sent == 0) return;
    out_.consume(loop_.slabs(), sent);
  }
}

// Who waited for pending bytes to leave hears of it; the connection may be closed then.
void Connection::afterFlush() {
  if (out_.empty()) {
    if (end_writing_) shutdownWriting();
    handler_->onDrained();
    if (!isOpen()) return;
  }
  if (over_high_ && out_.size() <= buffer_limit_bytes_ / 2) {
    over_high_ = false;
    if (is_slowness_limited_) loop_.slowPeers().of(*this).end();
    handler_->onBelowLowWatermark();
  }
}

void Connection::endWriting() {
  settle();
  end_writing_ = true;
  if (isOpen() && out_.empty() && phase_ == Phase::Open) shutdownWriting();
}

void Connection::shutdownWriting() {
  if (transport_) {
    transport_->endWriting(fd_.get());
  } else {
    ::shutdown(fd_.get(), SHUT_WR);
  }
}

void Connection::close(CloseKind kind) {
  if (!isOpen()) return;
  settle();
  if (kind == CloseKind::Reset) {
    const linger now = {1, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  }
  if (transport_ && kind == CloseKind::Fin && !failed_) transport_->onClose(fd_.get());
  if (is_slowness_limited_) loop_.slowPeers().of(*this).end();
  fd_.close();
  out_.clear(loop_.slabs());
  loop_.bury(std::unique_ptr<Mortal>(this));
}

void Connection::giveUp() {
  if (!isOpen()) return;
  // Nothing more is said to it.
  failed_ = true;
  handler_->onTooSlow();
}

// ---- events ----

void Connection::prefetch(Ahead ahead) const {
  // As onEvents(): whose handler that was may be gone.
  if (!isOpen()) return;
  if (ahead == Ahead::Two) {
    fairlead::prefetch(handler_, kHandlerBytes);
  } else {
    handler_->prefetch();
  }
}

void Connection::onEvents(uint32_t events) {
  if (!isOpen()) return;
  if (transport_) events = transport_->onEvents(events);
  if (phase_ != Phase::Open) {
    if (!establish(events)) return;
    // What came with the last of a handshake has no event of its own.
    if (transport_) events |= EPOLLIN | EPOLLOUT;
  }
  if (events & EPOLLERR) {
    was_reset_ = true;
    if (isReadingPaused()) {
      handler_->onResetWhilePaused();
      if (!isOpen()) return;
    }
  }
  if (events & kEnds) peer_ended_ = true;
  if (events & EPOLLOUT) {
    onRoom();
    if (!isOpen()) return;
  }
  const bool has_input = (events & (EPOLLIN | kEnds)) != 0;
  if (has_input) readable_ = true;
  if (failed_) {
    handler_->onWriteFailed();
    return;
  }
  if (has_input && read_pauses_ == 0) letRead();
}

// Who pauses with bytes left to read would not come to the reset behind them.
void Connection::letRead() {
  handler_->onReadable();
  if (isOpen() && was_reset_ && isReadingPaused()) handler_->onResetWhilePaused();
}

void Connection::onRoom() {
  writable_ = true;
  if (out_.empty()) {
    handler_->onWritable();
    return;
  }
  flushPending();
  if (!failed_) afterFlush();
}

// False: there is nothing more to do with these events.
bool Connection::establish(uint32_t events) {
  int error = 0;
  if (phase_ == Phase::Connecting) {
    if (!(events & (EPOLLOUT | EPOLLERR | EPOLLHUP))) return false;
    socklen_t size = sizeof(error);
    ::getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == 0) phase_ = transport_ ? Phase::Handshaking : Phase::Open;
  }
  if (phase_ == Phase::Handshaking) {
    const Transport::Handshake state = transport_->handshake(fd_.get());
    if (state == Transport::Handshake::Waiting) return false;
    if (state == Transport::Handshake::Done) {
      phase_ = Phase::Open;
    } else {
      error = EPROTO;
    }
  }
  const bool tells = tells_ready_;
  tells_ready_ = false;
  if (tells) handler_->onReady(error);
  return error == 0 && isOpen();
}

void Connection::wake(uint32_t events) {
  woken_ |= static_cast<uint8_t>(events & (EPOLLIN | EPOLLOUT));
  loop_.yield(this);
}

void Connection::onDeferred() {
  if (const uint32_t events = std::exchange(woken_, 0)) onEvents(events);
  const bool is_due = read_due_;
  read_due_ = false;
  if (!is_due || !isOpen() || phase_ != Phase::Open) return;
  if (!isReadingPaused()) {
    letRead();
  } else if (was_reset_) {
    handler_->onResetWhilePaused();
  }
}

// ---- reading ----

void Connection::resumeReading() {
  FL_DCHECK(read_pauses_ > 0);
  if (--read_pauses_ == 0 && isOpen() && readable_) readSoon();
}

void Connection::countTowardsShare(uint32_t bytes) {
  if (turn_ != thisTurn()) {
    turn_ = thisTurn();
    turn_bytes_ = 0;
  }
  turn_bytes_ = std::min<uint32_t>(turn_bytes_ + bytes, kMostTurnBytes);
}

Connection::Read Connection::read(size_t headroom) {
  if (hasReadItsShare()) {
    readNextTurn();
    return {ReadResult::Nothing, nullptr, 0};
  }
  char* buffer = loop_.readBuffer() + headroom;
  const size_t room = Loop::kReadBufferBytes - headroom;
  const ssize_t got =
      transport_ ? transport_->read(fd_.get(), buffer, room) : ::recv(fd_.get(), buffer, room, 0);
  if (got > 0) {
    const size_t size = static_cast<size_t>(got);
    markStale(buffer + size, room - size);
    read_bytes_ += size;
    countTowardsShare(static_cast<uint32_t>(size));
    // The peer's end comes after its bytes: it needs one more read to be seen.
    if (size < room && !peer_ended_ && !transport_) readable_ = false;
    return {ReadResult::Data, buffer, size};
  }
  readable_ = false;
  if (got == 0) return {ReadResult::End, nullptr, 0};
  if (errno == EAGAIN || errno == EINTR) return {ReadResult::Nothing, nullptr, 0};
  if (errno == ECONNRESET) was_reset_ = true;
  return {ReadResult::Failed, nullptr, 0};
}

}  // namespace fairlead::net
