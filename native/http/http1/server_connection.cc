#include "http/http1/server_connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <utility>

namespace fairlead::http1 {

using http::RequestSink;
using http::ResetReason;

ServerConnection::ServerConnection(net::Loop& loop, net::FileDescriptor fd,
                                   uint32_t buffer_limit_bytes, const ServerSettings& settings,
                                   net::OutBatch& batch, http::RequestHead& scratch,
                                   ServerCallbacks& callbacks)
    : Connection(loop, std::move(fd), buffer_limit_bytes),
      settings_(settings),
      batch_(batch),
      scratch_(scratch),
      callbacks_(callbacks) {}

bool ServerConnection::start() {
  idle_since_ = loop().now();
  if (settings_.idle_timeout_ms > 0) watch(loop().now() + settings_.idle_timeout_ms);
  if (loop().add(fd(), this)) return true;
  abort();
  return false;
}

void ServerConnection::endAfter(net::Millis ms) {
  end_ = loop().now() + ms;
  if (state_ == State::Head && !in_head_) watch(end_);
}

bool ServerConnection::isIdleFor(net::Millis ms) const {
  if (net::Loop::readClockMicros() / 1000 < idle_since_ + ms) return false;
  if (state_ != State::Head || in_head_ || leftover_ || pendingBytes() > 0) return false;
  char byte;
  return ::recv(fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0;
}

// ---- the exchange ----

void ServerConnection::answerComplete() {
  if (RequestSink* stream = std::exchange(stream_, nullptr)) stream->onAnswerComplete();
  meter_ = {};
  out_body_ = OutBody::None;
  flush();
  if (!isOpen()) return;
  // An answer before the request was read: the rest of it cannot be told from the next request
  // cheaply, so the connection ends; the answer's head said so. A tunnel that ends has no next.
  if (close_after_ || state_ == State::Body || state_ == State::Raw) {
    finish(state_ == State::Body || linger_delayed_ ? Linger::Delayed : Linger::None);
    return;
  }
  if (state_ == State::Complete) finishExchange();
}

void ServerConnection::finishExchange() {
  state_ = State::Head;
  idle_since_ = loop().now();
  forgetPauses();
  countBytes();
  if (end_ <= loop().now()) {
    finish(Linger::None);
    return;
  }
  if (end_ != net::kNever) {
    watch(end_);
  } else if (settings_.idle_timeout_ms > 0) {
    watch(loop().now() + settings_.idle_timeout_ms);
  }
  // The next request may be here already. Inside consume() the loop there goes on with it.
  if (!consuming_ && !isReadingPaused() && (leftover_ || isReadable())) onReadable();
}

// ---- writing ----

void ServerConnection::sendInformational(uint16_t status, http::HeaderMap* headers) {
  batch_.claim(this);
  meter_.wire_sent += writeInformational(batch_, status, headers);
  flush();
}

void ServerConnection::sendHead(const http::ResponseOut& head, bool end) {
  batch_.claim(this);
  close_after_ = head.close_after;
  linger_delayed_ = head.linger;
  const WrittenHead written = writeResponseHead(batch_, head, end);
  out_body_ = written.body;
  meter_.wire_sent += written.bytes;
  meter_.header_sent += written.header_bytes;
  if (out_body_ == OutBody::UntilClose && !head.to_connect) close_after_ = true;
  if (head.to_connect) {
    state_ = State::Raw;
    // Bytes that came after the request's head are the tunnel's first ones.
    if (leftover_ || isReadable()) loop().defer(this);
  }
  if (end) answerComplete();
}

void ServerConnection::sendData(std::string_view data, bool end) {
  batch_.claim(this);
  if (batch_.isAlmostFull()) flush();
  meter_.wire_sent += writeData(batch_, out_body_, data);
  if (end) sendTrailers(nullptr);
}

void ServerConnection::sendTrailers(http::HeaderMap* trailers) {
  batch_.claim(this);
  meter_.wire_sent += writeEnd(batch_, out_body_, settings_.enable_trailers ? trailers : nullptr);
  answerComplete();
}

void ServerConnection::flush() {
  batch_.claim(this);
  send(batch_);
}

void ServerConnection::resumeReading() {
  Connection::resumeReading();
  if (leftover_) onReadable();
}

void ServerConnection::onSpliced(size_t bytes, bool end) {
  written_bytes_ += bytes;
  meter_.wire_sent += bytes;
  if (end) answerComplete();
}

void ServerConnection::reset(bool linger) {
  stream_ = nullptr;
  flush();
  finish(linger ? Linger::Delayed : Linger::None);
}

// ---- the end ----

void ServerConnection::finish(Linger linger) {
  if (!isOpen() || state_ == State::Closed) return;
  if (linger == Linger::None && pendingBytes() == 0) {
    closed(false, CloseKind::Fin);
    return;
  }
  state_ = State::Lingering;
  leftover_.reset();
  forgetPauses();
  countBytes();
  linger_delayed_ = linger == Linger::Delayed && settings_.delayed_close_ms > 0;
  if (!linger_delayed_ && pendingBytes() == 0) {
    closed(false, CloseKind::Fin);
    return;
  }
  deadline_ = net::kNever;
  if (settings_.delayed_close_ms > 0) watch(loop().now() + settings_.delayed_close_ms);
  if (!consuming_ && isReadable() && !isReadingPaused()) onReadable();
}

void ServerConnection::abort(CloseKind kind) { closed(false, kind); }

void ServerConnection::closed(bool by_peer, CloseKind kind) {
  if (state_ == State::Closed) return;
  state_ = State::Closed;
  Timer::disarm();
  batch_.dropOf(this);
  countBytes();
  resetStream(ResetReason::LocalReset, "downstream_local_disconnect");
  close(kind);
  callbacks_.onConnectionClosed(by_peer);
}

// ---- events ----

// A reset that finds reading paused would not be seen, now or at any later write.
bool ServerConnection::onFirstEvent(uint32_t events) {
  if (!(events & EPOLLERR) || !isReadingPaused()) return true;
  onPeerEnd();
  return false;
}

void ServerConnection::onBelowLowWatermark() {
  if (stream_) {
    stream_->onDownstreamWritable();
  } else {
    onReadable();
  }
}

void ServerConnection::onDrained() {
  countBytes();
  if (state_ == State::Lingering) {
    if (!linger_delayed_) {
      closed(false, CloseKind::Fin);
      return;
    }
    watch(loop().now() + settings_.delayed_close_ms);
    return;
  }
  if (stream_) stream_->onDownstreamWritable();
}

void ServerConnection::onWritable() {
  if (stream_) stream_->onDownstreamWritable();
}

void ServerConnection::onWriteFailed() { onPeerEnd(); }

void ServerConnection::watch(net::Millis deadline) {
  deadline_ = deadline;
  if (!Timer::isArmed() || deadline < due()) loop().timers().arm(this, deadline);
}

void ServerConnection::onTimer() {
  if (deadline_ == net::kNever) return;
  if (deadline_ > loop().now()) {
    loop().timers().arm(this, deadline_);
    return;
  }
  deadline_ = net::kNever;
  if (state_ == State::Lingering) {
    // Time runs only while nothing moves: a slow client gets its answer whole.
    if (written_bytes_ != counted_written_) {
      countBytes();
      watch(loop().now() + settings_.delayed_close_ms);
      return;
    }
    callbacks_.onDelayedCloseTimeout();
    closed(false, CloseKind::Fin);
  } else if (state_ == State::Head && !stream_) {
    if (end_ <= loop().now()) {
      closed(false, CloseKind::Fin);
    } else if (std::exchange(in_head_, false)) {
      callbacks_.onHeadTimeout();
    } else {
      callbacks_.onIdleTimeout();
    }
  }
}

void ServerConnection::countBytes() {
  if (read_bytes_ == counted_read_ && written_bytes_ == counted_written_) return;
  callbacks_.onBytes(read_bytes_ - counted_read_, written_bytes_ - counted_written_);
  counted_read_ = read_bytes_;
  counted_written_ = written_bytes_;
}

}  // namespace fairlead::http1
