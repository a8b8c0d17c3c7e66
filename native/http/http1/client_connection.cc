#include "http/http1/client_connection.h"

#include <algorithm>
#include <utility>

namespace fairlead::http1 {

using http::ResetReason;
using http::ResponseSink;

ClientConnection::ClientConnection(net::Connection& connection,
                                   const http::ClientSettings& settings, net::OutBatch& batch,
                                   http::ResponseHead& scratch,
                                   http::ClientCodecCallbacks& callbacks)
    : connection_(connection),
      settings_(settings),
      batch_(batch),
      scratch_(scratch),
      callbacks_(callbacks) {
  connection_.setHandler(*this);
  watch(connection_.loop().now() + settings_.connect_timeout_ms);
}

ClientConnection::~ClientConnection() {
  if (isOpen()) connection_.close();
}

http::ClientStream& ClientConnection::newStream(ResponseSink& sink) {
  FL_DCHECK(state_ == State::Idle);
  sink_ = &sink;
  meter_ = &sink.upstreamMeter();
  keep_alive_ = true;
  excess_ = false;
  close_notified_ = false;
  request_done_ = false;
  taken_raw_ = false;
  state_ = State::Head;
  deadline_ = net::kNever;
  ++requests_;
  return *this;
}

void ClientConnection::onReady(int error) {
  if (error != 0) {
    connectFailed(Failure::Refused, error);
    return;
  }
  beginSession();
  callbacks_.onConnected();
}

void ClientConnection::beginSession() {
  if (settings_.max_duration_ms > 0) {
    duration_end_ = connection_.loop().now() + settings_.someDuration(net::Loop::readClockMicros());
  }
  becomeIdle();
}

void ClientConnection::connectFailed(Failure failure, int error) {
  state_ = State::Closed;
  Timer::disarm();
  connection_.close();
  callbacks_.onConnectFailed(failure, error);
}

void ClientConnection::becomeIdle() {
  state_ = State::Idle;
  deadline_ = net::kNever;
  net::Millis deadline = duration_end_;
  if (settings_.idle_timeout_ms > 0) {
    deadline = std::min(deadline, connection_.loop().now() + settings_.idle_timeout_ms);
  }
  if (deadline != net::kNever) watch(deadline);
}

// ---- the exchange ----

// The pool hears of it before the sink does, so that a pipelined request finds the connection.
void ClientConnection::answerComplete() {
  ResponseSink& sink = *std::exchange(sink_, nullptr);
  meter_ = nullptr;
  taken_raw_ = false;
  connection_.forgetPauses();
  countBytes();
  const bool expired = connection_.loop().now() >= duration_end_;
  const bool limit = settings_.max_requests > 0 && requests_ >= settings_.max_requests;
  const bool ended = connection_.hasPeerEnded();
  // An answer that came before the request was sent whole leaves the connection useless.
  const bool reusable = keep_alive_ && !excess_ && request_done_ && !limit && !expired &&
                        !connection_.hasFailed() && !ended && !is_draining_;
  callbacks_.onStreamEnded(sink, StreamEnd::Complete);
  if (reusable) {
    becomeIdle();
    callbacks_.onRoom();
    return;
  }
  abort(excess_           ? CloseReason::ProtocolError
        : !request_done_  ? CloseReason::RequestUnsent
        : close_notified_ ? CloseReason::CloseNotify
        : limit           ? CloseReason::MaxRequests
        : ended           ? CloseReason::Peer
        : expired         ? CloseReason::MaxDuration
                          : CloseReason::Local);
}

void ClientConnection::onPeerEnd() {
  const bool ends_body = state_ == State::Body && framing_ == BodyFraming::Kind::UntilClose;
  if (ends_body) {
    ResponseSink& sink = *std::exchange(sink_, nullptr);
    meter_ = nullptr;
    callbacks_.onStreamEnded(sink, StreamEnd::Complete);
    abort(close_notified_ ? CloseReason::PeerAfterNotify : CloseReason::Peer);
    sink.onResponseData({}, true);
    callbacks_.serveWaiting();
    return;
  }
  // An answer that breaks off, be it in its head. A tunnel has no other end.
  if (state_ == State::Body || leftover_) {
    fail(ResetReason::ProtocolError, "protocol_error", CloseReason::PeerInMessage);
    return;
  }
  const bool ends_tunnel = state_ == State::Raw && method_ == AnsweredMethod::Connect;
  fail(ResetReason::ConnectionTermination, "connection_termination",
       ends_tunnel ? CloseReason::Local : CloseReason::Peer);
}

void ClientConnection::protocolError() {
  fail(ResetReason::ProtocolError, "protocol_error", CloseReason::ProtocolError);
}

void ClientConnection::fail(ResetReason reason, std::string_view details, CloseReason why) {
  ResponseSink* sink = sink_;
  abort(why);
  if (sink) sink->onResponseReset(reason, details);
  callbacks_.serveWaiting();
}

void ClientConnection::drain() {
  is_draining_ = true;
  if (state_ == State::Idle) abort(CloseReason::Local);
}

void ClientConnection::abort(CloseReason reason) {
  if (!isOpen()) return;
  state_ = State::Closed;
  ResponseSink* const lost = std::exchange(sink_, nullptr);
  meter_ = nullptr;
  Timer::disarm();
  batch_.dropOf(connection_);
  countBytes();
  connection_.close();
  if (lost) callbacks_.onStreamEnded(*lost, StreamEnd::Connection);
  callbacks_.onClosed(reason, lost != nullptr);
}

// ---- writing ----

void ClientConnection::sendHead(const http::RequestOut& head, bool end) {
  method_ = head.method == "HEAD"      ? AnsweredMethod::Head
            : head.method == "CONNECT" ? AnsweredMethod::Connect
            : head.upgrades            ? AnsweredMethod::Upgrade
                                       : AnsweredMethod::Other;
  batch_.claim(connection_);
  const WrittenHead written = writeRequestHead(
      batch_, head, end, settings_.sends_whole_url && method_ != AnsweredMethod::Connect);
  out_body_ = written.body;
  meter_->wire_sent += written.bytes;
  meter_->header_sent += written.header_bytes;
  meter_->plain_sent += written.header_bytes;
  if (end) {
    request_done_ = true;
    flush();
  }
}

void ClientConnection::sendData(std::string_view data, bool end) {
  batch_.claim(connection_);
  if (batch_.isAlmostFull()) flush();
  const size_t bytes = writeData(batch_, out_body_, data);
  if (meter_) meter_->wire_sent += bytes;
  if (end) sendTrailers(nullptr);
}

void ClientConnection::sendTrailers(http::HeaderMap* trailers) {
  batch_.claim(connection_);
  const WrittenHead written =
      writeEnd(batch_, out_body_, settings_.enable_trailers ? trailers : nullptr);
  if (meter_) {
    meter_->wire_sent += written.bytes;
    meter_->header_sent += static_cast<uint32_t>(written.header_bytes);
    meter_->plain_sent += static_cast<uint32_t>(written.header_bytes);
  }
  request_done_ = true;
  flush();
  // A tunnel has no end of one way but the connection's, and as in the real server an upgrade none.
  if (state_ == State::Raw && method_ == AnsweredMethod::Connect) connection_.endWriting();
}

void ClientConnection::flush() {
  batch_.claim(connection_);
  connection_.sendSoon(batch_);
}

void ClientConnection::reset() {
  abort(close_notified_ ? CloseReason::LocalAfterNotify : CloseReason::Local);
  callbacks_.serveWaiting();
}

uint64_t ClientConnection::remainingBytes() const {
  return state_ == State::Body && framing_ == BodyFraming::Kind::Length ? body_remaining_ : 0;
}

void ClientConnection::onTaken(size_t bytes) {
  connection_.countSpliced(bytes, 0);
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
  if (isOpen() && !connection_.isReadable() && !connection_.transport()) onPeerEnd();
}

void ClientConnection::watch(net::Millis deadline) {
  deadline_ = deadline;
  connection_.loop().timers().armBy(this, deadline);
}

void ClientConnection::onTimer() {
  const net::Millis now = connection_.loop().now();
  if (deadline_ == net::kNever) return;
  if (deadline_ > now) {
    connection_.loop().timers().arm(this, deadline_);
    return;
  }
  deadline_ = net::kNever;
  if (state_ == State::Connecting) {
    connectFailed(Failure::Timeout, 0);
  } else if (state_ == State::Idle) {
    abort(now >= duration_end_ ? CloseReason::MaxDuration : CloseReason::IdleTimeout);
  }
}

void ClientConnection::countBytes() { counted_.tell(connection_, callbacks_); }

}  // namespace fairlead::http1
