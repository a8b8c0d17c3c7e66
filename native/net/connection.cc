#include "net/connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>

namespace fairlead::net {

Connection::~Connection() { out_.clear(loop_.slabs()); }

Address Connection::localAddress() const {
  sockaddr_storage storage;
  socklen_t size = sizeof(storage);
  auto* raw = reinterpret_cast<sockaddr*>(&storage);
  return ::getsockname(fd_.get(), raw, &size) == 0 ? Address::fromKernel(raw, size) : Address();
}

void Connection::send(OutBatch& batch) {
  if (batch.empty()) return;
  if (!isOpen() || failed_) {
    batch.clear();
    return;
  }
  size_t sent = 0;
  if (writable_ && out_.empty()) {
    ssize_t result;
    if (batch.partCount() == 1) {
      result = ::send(fd_.get(), batch.parts()[0].iov_base, batch.parts()[0].iov_len, MSG_NOSIGNAL);
    } else {
      msghdr message = {};
      message.msg_iov = batch.parts();
      message.msg_iovlen = static_cast<size_t>(batch.partCount());
      result = ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL);
    }
    if (result >= 0) {
      sent = static_cast<size_t>(result);
      written_bytes_ += sent;
    } else if (errno != EAGAIN && errno != EINTR) {
      failed_ = true;
      batch.clear();
      return;
    }
    if (sent < batch.size()) writable_ = false;
  }
  if (sent < batch.size()) keepUnsent(batch, sent);
  batch.clear();
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
  if (isOverHighWatermark()) over_high_ = true;
}

void Connection::flushPending() {
  while (!out_.empty()) {
    iovec parts[16];
    msghdr message = {};
    message.msg_iov = parts;
    message.msg_iovlen = static_cast<size_t>(out_.gather(parts, 16));
    const ssize_t result = ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL);
    if (result < 0) {
      if (errno == EAGAIN || errno == EINTR) {
        writable_ = false;
      } else {
        failed_ = true;
      }
      break;
    }
    written_bytes_ += static_cast<size_t>(result);
    out_.consume(loop_.slabs(), static_cast<size_t>(result));
  }
}

void Connection::resumeReading() {
  FL_DCHECK(read_pauses_ > 0);
  if (--read_pauses_ == 0 && isOpen() && readable_) onReadable();
}

void Connection::endWriting() {
  end_writing_ = true;
  if (isOpen() && out_.empty()) ::shutdown(fd_.get(), SHUT_WR);
}

void Connection::close(CloseKind kind) {
  if (!isOpen()) return;
  if (kind == CloseKind::Reset) {
    const linger now = {1, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  }
  fd_.close();
  out_.clear(loop_.slabs());
  loop_.bury(std::unique_ptr<Mortal>(this));
}

void Connection::onEvents(uint32_t events) {
  if (!isOpen() || !onFirstEvent(events) || !isOpen()) return;
  if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) peer_ended_ = true;
  if (events & EPOLLOUT) {
    writable_ = true;
    if (!out_.empty()) {
      flushPending();
      if (!failed_ && out_.empty()) {
        if (end_writing_) ::shutdown(fd_.get(), SHUT_WR);
        onDrained();
        if (!isOpen()) return;
      }
      if (over_high_ && out_.size() <= buffer_limit_bytes_ / 2) {
        over_high_ = false;
        onBelowLowWatermark();
        if (!isOpen()) return;
      }
    } else {
      onWritable();
      if (!isOpen()) return;
    }
  }
  const bool has_input = (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  if (has_input) readable_ = true;
  if (failed_) {
    onWriteFailed();
    return;
  }
  if (has_input && read_pauses_ == 0) onReadable();
}

Connection::Read Connection::read(size_t headroom) {
  char* buffer = loop_.readBuffer() + headroom;
  const size_t room = Loop::kReadBufferBytes - headroom;
  const ssize_t got = ::recv(fd_.get(), buffer, room, 0);
  if (got > 0) {
    const size_t size = static_cast<size_t>(got);
    read_bytes_ += size;
    // The peer's end comes after its bytes: it needs one more read to be seen.
    if (size < room && !peer_ended_) readable_ = false;
    return {ReadResult::Data, buffer, size};
  }
  readable_ = false;
  if (got == 0) return {ReadResult::End, nullptr, 0};
  if (errno == EAGAIN || errno == EINTR) return {ReadResult::Nothing, nullptr, 0};
  return {ReadResult::Failed, nullptr, 0};
}

}  // namespace fairlead::net
