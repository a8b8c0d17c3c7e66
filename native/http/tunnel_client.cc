#include "http/tunnel_client.h"

#include <utility>

namespace fairlead::http {

namespace {
// A host that takes nothing for so long gets nothing more.
constexpr net::Millis kPatienceMs = 60'000;
}  // namespace

TunnelClient::TunnelClient(net::Connection& connection, const ClientSettings& settings,
                           const CodecScratch& scratch, ClientCodecCallbacks& callbacks)
    : connection_(connection), settings_(settings), scratch_(scratch), callbacks_(callbacks) {
  connection_.setHandler(*this);
  connection_.loop().timers().arm(this, connection_.loop().now() + settings_.connect_timeout_ms);
}

TunnelClient::~TunnelClient() {
  if (state_ != State::Closed) connection_.close();
}

ClientStream& TunnelClient::newStream(ResponseSink& sink) {
  FL_DCHECK(state_ == State::Idle);
  sink_ = &sink;
  state_ = State::Asked;
  return *this;
}

void TunnelClient::onReady(int error) {
  Timer::disarm();
  if (error != 0) {
    connectFailed(Failure::Refused, error);
    return;
  }
  state_ = State::Idle;
  callbacks_.onConnected();
}

void TunnelClient::connectFailed(Failure failure, int error) {
  state_ = State::Closed;
  Timer::disarm();
  connection_.close();
  callbacks_.onConnectFailed(failure, error);
}

void TunnelClient::onTimer() {
  if (state_ == State::Connecting) connectFailed(Failure::Timeout, 0);
  if (state_ != State::Draining) return;
  if (connection_.pendingBytes() == left_bytes_) {
    abort(CloseReason::Local);
    return;
  }
  left_bytes_ = connection_.pendingBytes();
  connection_.loop().timers().arm(this, connection_.loop().now() + kPatienceMs);
}

// ---- writing ----

// Who asks hears the answer once it has done so.
void TunnelClient::sendHead(const RequestOut& head, bool end) {
  outlasts_answer_ = head.outlasts_answer;
  if (!head.tunnel_preamble.empty() || end) sendData(head.tunnel_preamble, end);
  flush();
  connection_.loop().defer(this);
}

void TunnelClient::onDeferred() {
  if (state_ != State::Asked) return;
  state_ = State::Open;
  ResponseHead& head = scratch_.response;
  head.status = 200;
  head.version = Version::Http11;
  head.head_bytes = head.header_bytes = 0;
  head.headers.clear();
  sink_->onResponseHead(head, false);
  if (sink_) sink_->onResponseReadEnd();
  if (state_ == State::Open && connection_.isReadable()) connection_.readSoon();
}

void TunnelClient::sendData(std::string_view data, bool end) {
  scratch_.batch.claim(connection_);
  if (scratch_.batch.isAlmostFull()) flush();
  if (!data.empty()) scratch_.batch.addView(data);
  if (sink_) sink_->upstreamMeter().wire_sent += data.size();
  if (!end) return;
  request_done_ = true;
  flush();
  connection_.endWriting();
  if (answer_done_) complete();
}

void TunnelClient::flush() {
  scratch_.batch.claim(connection_);
  connection_.send(scratch_.batch);
}

void TunnelClient::reset() {
  abort(CloseReason::Local);
  callbacks_.serveWaiting();
}

// ---- reading ----

void TunnelClient::onReadable() {
  // Bytes before the answer wait where they are; who ends the connection before that is told so.
  if (state_ == State::Idle && connection_.hasPeerEnded()) {
    abort(CloseReason::Peer);
    callbacks_.serveWaiting();
    return;
  }
  while (state_ == State::Open && !answer_done_ && connection_.isReadable() &&
         !connection_.isReadingPaused()) {
    const net::Connection::Read got = connection_.read();
    switch (got.result) {
      case net::Connection::ReadResult::Nothing:
        return;
      case net::Connection::ReadResult::End:
        onEnd();
        return;
      case net::Connection::ReadResult::Failed:
        fail();
        return;
      case net::Connection::ReadResult::Data:
        countBytes();
        sink_->upstreamMeter().wire_received += got.size;
        sink_->onResponseData({got.data, got.size}, false);
        if (sink_) sink_->onResponseReadEnd();
        break;
    }
  }
}

void TunnelClient::onBelowLowWatermark() {
  countBytes();
  if (sink_) sink_->onUpstreamWritable();
}

void TunnelClient::onDrained() {
  if (state_ == State::Draining) {
    abort(CloseReason::Peer);
  } else {
    onBelowLowWatermark();
  }
}

// ---- the end ----

void TunnelClient::onEnd() {
  ResponseSink& sink = *sink_;
  if (request_done_) {
    complete();
  } else if (outlasts_answer_) {
    answer_done_ = true;
    sink.onResponseData({}, true);
    return;
  } else {
    // As one that was lost with its connection.
    abort(CloseReason::Local);
  }
  sink.onResponseData({}, true);
  callbacks_.serveWaiting();
}

// Both halves have ended. A relay's stream is all of its connection, and ends with it: as the real
// server counts it.
void TunnelClient::complete() {
  if (!outlasts_answer_) {
    ResponseSink& sink = *std::exchange(sink_, nullptr);
    callbacks_.onStreamEnded(sink, ClientCodecCallbacks::StreamEnd::Complete);
  }
  if (connection_.pendingBytes() > 0) {
    beginDraining();
  } else {
    abort(CloseReason::Peer);
  }
}

// Its stream is over; what the host has not taken yet still leaves.
void TunnelClient::beginDraining() {
  state_ = State::Draining;
  if (ResponseSink* const sink = std::exchange(sink_, nullptr)) {
    callbacks_.onStreamEnded(*sink, ClientCodecCallbacks::StreamEnd::Connection);
    left_stream_ = true;
  }
  left_bytes_ = connection_.pendingBytes();
  connection_.loop().timers().arm(this, connection_.loop().now() + kPatienceMs);
}

void TunnelClient::fail() {
  ResponseSink* const sink = sink_;
  abort(CloseReason::Peer);
  if (sink) sink->onResponseReset(ResetReason::ConnectionTermination, "connection_termination");
  callbacks_.serveWaiting();
}

void TunnelClient::abort(CloseReason reason) {
  if (state_ == State::Closed) return;
  state_ = State::Closed;
  ResponseSink* const lost = std::exchange(sink_, nullptr);
  Timer::disarm();
  Deferred::unlink();
  scratch_.batch.dropOf(connection_);
  countBytes();
  connection_.close();
  if (lost) callbacks_.onStreamEnded(*lost, ClientCodecCallbacks::StreamEnd::Connection);
  callbacks_.onClosed(reason, lost != nullptr || left_stream_);
}

void TunnelClient::countBytes() { counted_.tell(connection_, callbacks_); }

}  // namespace fairlead::http
