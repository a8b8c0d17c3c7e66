#include "http/http1/client_connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>

namespace fairlead::http1 {

using http::ResetReason;
using http::ResponseSink;

ClientConnection::ClientConnection(net::Loop& loop, net::FileDescriptor fd,
                                   uint32_t buffer_limit_bytes, const ClientSettings& settings,
                                   net::OutBatch& batch, http::ResponseHead& scratch,
                                   ClientCallbacks& callbacks)
    : Connection(loop, std::move(fd), buffer_limit_bytes),
      settings_(settings),
      batch_(batch),
      scratch_(scratch),
      callbacks_(callbacks),
      started_at_us_(net::Loop::readClockMicros()) {
  node_.connection = this;
}

bool ClientConnection::start() {
  if (!loop().add(fd(), this)) return false;
  watch(loop().now() + settings_.connect_timeout_ms);
  return true;
}

http::ClientStream& ClientConnection::attach(ResponseSink& sink, bool to_head, bool to_connect) {
  FL_DCHECK(state_ == State::Idle);
  sink_ = &sink;
  meter_ = &sink.meter();
  to_head_ = to_head;
  to_connect_ = to_connect;
  keep_alive_ = true;
  excess_ = false;
  close_notified_ = false;
  request_done_ = false;
  splicing_ = false;
  state_ = State::Head;
  deadline_ = net::kNever;
  ++requests_;
  return *this;
}

bool ClientConnection::onFirstEvent(uint32_t events) {
  if (state_ != State::Connecting) return true;
  if (!(events & (EPOLLOUT | EPOLLERR | EPOLLHUP))) return false;
  int error = 0;
  socklen_t size = sizeof(error);
  ::getsockopt(fd(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) {
    state_ = State::Closed;
    Timer::disarm();
    callbacks_.onConnectFailed(*this, ClientCallbacks::Failure::Refused, error);
    close();
    return false;
  }
  connected_at_us_ = net::Loop::readClockMicros();
  if (settings_.max_duration_ms > 0) duration_end_ = loop().now() + settings_.max_duration_ms;
  becomeIdle();
  callbacks_.onConnected(*this);
  return true;
}

const net::Address& ClientConnection::localAddress() {
  if (local_address_.rawSize() == 0) local_address_ = Connection::localAddress();
  return local_address_;
}

void ClientConnection::becomeIdle() {
  state_ = State::Idle;
  deadline_ = net::kNever;
  net::Millis deadline = duration_end_;
  if (settings_.idle_timeout_ms > 0) {
    deadline = std::min(deadline, loop().now() + settings_.idle_timeout_ms);
  }
  if (deadline != net::kNever) watch(deadline);
}

// ---- the exchange ----

// The pool hears of it before the sink does, so that a pipelined request finds the connection.
void ClientConnection::answerComplete() {
  sink_ = nullptr;
  meter_ = nullptr;
  splicing_ = false;
  forgetPauses();
  countBytes();
  const bool expired = loop().now() >= duration_end_;
  const bool limit = settings_.max_requests > 0 && requests_ >= settings_.max_requests;
  // An answer that came before the request was sent whole leaves the connection useless.
  const bool reusable =
      keep_alive_ && !excess_ && request_done_ && !limit && !expired && !failed_ && !hasPeerEnded();
  if (reusable) {
    becomeIdle();
    callbacks_.onExchangeDone(*this, true);
    return;
  }
  callbacks_.onExchangeDone(*this, false);
  using Reason = ClientCallbacks::CloseReason;
  abort(excess_           ? Reason::ProtocolError
        : !request_done_  ? Reason::RequestUnsent
        : close_notified_ ? Reason::CloseNotify
        : limit           ? Reason::MaxRequests
        : hasPeerEnded()  ? Reason::Peer
        : expired         ? Reason::MaxDuration
                          : Reason::Local);
}

void ClientConnection::onPeerEnd() {
  const bool ends_body =
      state_ == State::Raw || (state_ == State::Body && framing_ == BodyFraming::Kind::UntilClose);
  if (ends_body) {
    ResponseSink* sink = sink_;
    sink_ = nullptr;
    meter_ = nullptr;
    callbacks_.onExchangeDone(*this, false);
    using Reason = ClientCallbacks::CloseReason;
    abort(close_notified_ ? Reason::PeerAfterNotify : Reason::Peer);
    sink->onResponseData({}, true);
    callbacks_.serveWaiting();
    return;
  }
  // An answer that breaks off, be it in its head.
  if (state_ == State::Body || leftover_) {
    fail(ResetReason::ProtocolError, "protocol_error", ClientCallbacks::CloseReason::PeerInMessage);
    return;
  }
  fail(ResetReason::ConnectionTermination, "connection_termination",
       ClientCallbacks::CloseReason::Peer);
}

void ClientConnection::protocolError() {
  fail(ResetReason::ProtocolError, "protocol_error", ClientCallbacks::CloseReason::ProtocolError);
}

void ClientConnection::fail(ResetReason reason, std::string_view details,
                            ClientCallbacks::CloseReason why) {
  ResponseSink* sink = sink_;
  abort(why);
  if (sink) sink->onResponseReset(reason, details);
  callbacks_.serveWaiting();
}

void ClientConnection::abort(ClientCallbacks::CloseReason reason) {
  if (state_ == State::Closed) return;
  const bool had_stream = sink_ != nullptr;
  state_ = State::Closed;
  sink_ = nullptr;
  meter_ = nullptr;
  Timer::disarm();
  batch_.dropOf(this);
  countBytes();
  close();
  callbacks_.onClosed(*this, reason, had_stream);
}

// ---- writing ----

void ClientConnection::sendHead(const http::RequestOut& head, bool end) {
  batch_.claim(this);
  const WrittenHead written = writeRequestHead(batch_, head, end);
  out_body_ = written.body;
  meter_->wire_sent += written.bytes;
  meter_->header_sent += written.header_bytes;
  if (end) {
    request_done_ = true;
    flush();
  }
}

void ClientConnection::sendData(std::string_view data, bool end) {
  batch_.claim(this);
  if (batch_.isAlmostFull()) flush();
  const size_t bytes = writeData(batch_, out_body_, data);
  if (meter_) meter_->wire_sent += bytes;
  if (end) sendTrailers(nullptr);
}

void ClientConnection::sendTrailers(http::HeaderMap* trailers) {
  batch_.claim(this);
  const size_t bytes = writeEnd(batch_, out_body_, settings_.enable_trailers ? trailers : nullptr);
  if (meter_) meter_->wire_sent += bytes;
  request_done_ = true;
  flush();
}

void ClientConnection::flush() {
  batch_.claim(this);
  send(batch_);
}

void ClientConnection::reset() {
  abort(ClientCallbacks::CloseReason::Local);
  callbacks_.serveWaiting();
}

uint64_t ClientConnection::spliceableBytes() const {
  return state_ == State::Body && framing_ == BodyFraming::Kind::Length ? body_remaining_ : 0;
}

void ClientConnection::onSpliced(size_t bytes) {
  read_bytes_ += bytes;
  if (meter_) meter_->wire_received += bytes;
  body_remaining_ -= bytes;
  if (body_remaining_ > 0) return;
  answerComplete();
  callbacks_.serveWaiting();
}

// ---- events ----

void ClientConnection::onBelowLowWatermark() {
  if (sink_) sink_->onUpstreamWritable();
}

void ClientConnection::onDrained() {
  if (sink_) sink_->onUpstreamWritable();
}

// A host that answers early and closes leaves its answer to be read. While it is still readable,
// its reader has paused, and will find the end behind what came.
void ClientConnection::onWriteFailed() {
  onReadable();
  if (isOpen() && !isReadable()) onPeerEnd();
}

void ClientConnection::watch(net::Millis deadline) {
  deadline_ = deadline;
  if (!Timer::isArmed() || deadline < due()) loop().timers().arm(this, deadline);
}

void ClientConnection::onTimer() {
  if (deadline_ == net::kNever) return;
  if (deadline_ > loop().now()) {
    loop().timers().arm(this, deadline_);
    return;
  }
  deadline_ = net::kNever;
  if (state_ == State::Connecting) {
    state_ = State::Closed;
    callbacks_.onConnectFailed(*this, ClientCallbacks::Failure::Timeout, 0);
    close();
  } else if (state_ == State::Idle) {
    abort(loop().now() >= duration_end_ ? ClientCallbacks::CloseReason::MaxDuration
                                        : ClientCallbacks::CloseReason::IdleTimeout);
  }
}

void ClientConnection::countBytes() {
  if (read_bytes_ == counted_read_ && written_bytes_ == counted_written_) return;
  callbacks_.onBytes(*this, read_bytes_ - counted_read_, written_bytes_ - counted_written_);
  counted_read_ = read_bytes_;
  counted_written_ = written_bytes_;
}

}  // namespace fairlead::http1
