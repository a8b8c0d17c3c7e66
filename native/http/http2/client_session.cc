#include "http/http2/client_session.h"

#include <algorithm>
#include <utility>

#include "http/http2/stream_pool.h"

namespace fairlead::http2 {

using http::ResetReason;
using http::ResponseSink;

namespace {

uint16_t statusOf(std::string_view digits) {
  return static_cast<uint16_t>((digits[0] - '0') * 100 + (digits[1] - '0') * 10 +
                               (digits[2] - '0'));
}

}  // namespace

ClientSession::ClientSession(net::Connection& connection, const http::ClientSettings& settings,
                             const http::ClientLoans& loans, http::ClientCodecCallbacks& callbacks)
    : Session(Side::Client, connection, *settings.http2, settings.limits, loans.scratch,
              *loans.http2_stats),
      settings_(settings),
      scratch_head_(loans.scratch.response),
      callbacks_(callbacks) {
  stats().add(options().counts_as_oghttp2 ? Counter::Oghttp2UpstreamConnections
                                          : Counter::Nghttp2UpstreamConnections);
  connection.readMore();
  connect_deadline_ = loop().now() + settings_.connect_timeout_ms;
  rearm();
}

ClientSession::~ClientSession() {
  // Nobody is told any more.
  is_over_ = true;
  if (isOpen()) close(false, ResetReason::ConnectionTermination, {});
}

// ---- the connection ----

void ClientSession::onReady(int error) {
  if (error != 0) {
    connectFailed(Failure::Refused, error);
    return;
  }
  beginSession();
  callbacks_.onConnected();
}

// A host that answers and leaves at once has its answer read.
void ClientSession::onWriteFailed() {
  onReadable();
  if (isOpen()) Session::onWriteFailed();
}

void ClientSession::beginSession() {
  connect_deadline_ = net::kNever;
  is_connected_ = true;
  is_full_ = false;
  if (settings_.max_duration_ms > 0) {
    duration_end_ = loop().now() + settings_.someDuration(net::Loop::readClockMicros());
  }
  begin();
  noteIdle();
}

void ClientSession::connectFailed(Failure failure, int error) {
  is_over_ = true;
  close(false, ResetReason::ConnectionTermination, {});
  callbacks_.onConnectFailed(failure, error);
}

void ClientSession::noteIdle() {
  idle_since_ = loop().now();
  idle_deadline_ =
      settings_.idle_timeout_ms > 0 ? idle_since_ + settings_.idle_timeout_ms : net::kNever;
  rearm();
}

net::Millis ClientSession::nextDeadline() const {
  const net::Millis idle = activeStreams() == 0 ? idle_deadline_ : net::kNever;
  return std::min({connect_deadline_, idle, duration_end_});
}

void ClientSession::onDeadline(net::Millis now) {
  if (connect_deadline_ <= now) {
    connectFailed(Failure::Timeout, 0);
    return;
  }
  if (duration_end_ <= now) {
    duration_end_ = net::kNever;
    reason_ = activeStreams() > 0 ? CloseReason::MaxDurationServed : CloseReason::MaxDuration;
    drain();
    return;
  }
  if (idle_deadline_ <= now && !isActive()) abort(CloseReason::IdleTimeout);
}

bool ClientSession::takesStreams() const {
  return is_connected_ && !is_draining_ && !has_goaway_ && !is_over_ && isOpen() &&
         !isLingering() && next_id_ <= kMostStreamId;
}

uint32_t ClientSession::freeStreams() const {
  if (!takesStreams()) return 0;
  const uint32_t most = std::min(options().max_concurrent_streams, peer().max_concurrent_streams);
  const uint32_t active = activeStreams();
  uint32_t free = most > active ? most - active : 0;
  if (settings_.max_requests > 0) free = std::min(free, settings_.max_requests - requests_);
  return free;
}

void ClientSession::tellRoom() {
  const bool is_full = freeStreams() == 0;
  if (is_full == is_full_ || is_over_) return;
  is_full_ = is_full;
  callbacks_.onRoom();
}

void ClientSession::drain() {
  is_draining_ = true;
  tellRoom();
  endWhenIdle();
}

void ClientSession::endWhenIdle() {
  if (activeStreams() > 0 || is_over_) return;
  abort(reason_.value_or(CloseReason::Local));
}

void ClientSession::abort(CloseReason reason) {
  if (!isOpen()) return;
  reason_ = reason;
  close(false, ResetReason::ConnectionTermination, {});
}

void ClientSession::over(CloseReason reason) {
  if (is_over_) return;
  is_over_ = true;
  callbacks_.onClosed(reason, activeStreams() > 0 && !is_broken_);
}

// ---- streams ----

http::ClientStream& ClientSession::newStream(ResponseSink& sink) {
  FL_DCHECK(freeStreams() > 0);
  // Nobody has heard of the host for a while: it may have gone without a word.
  if (options().ping_idle_ms > 0 && !isActive() &&
      loop().now() - idle_since_ >= options().ping_idle_ms) {
    ping();
  }
  StreamPools* const pools = scratch().http2;
  ClientStream* const stream = pools ? pools->client.take() : new ClientStream;
  stream->begin(*this, sink);
  ++requests_;
  unopened_.pushBack(stream);
  ++unopened_count_;
  is_full_ = freeStreams() == 0;
  return *stream;
}

void ClientSession::opened(ClientStream& stream) {
  stream.ListNode<ClientStream>::unlink();
  --unopened_count_;
  sawStream(next_id_);
  open(stream, next_id_);
  next_id_ += 2;
}

void ClientSession::release(StreamBase& stream) {
  auto& released = static_cast<ClientStream&>(stream);
  released.clear();
  if (StreamPools* pools = scratch().http2) {
    pools->client.give(&released, loop());
  } else {
    net::buryIn(loop(), std::unique_ptr<ClientStream>(&released));
  }
}

void ClientSession::resetUnopened(ResetReason reason, std::string_view details) {
  while (ClientStream* const stream = unopened_.popFront()) {
    --unopened_count_;
    stream->loseUnopened(reason, details);
    release(*stream);
  }
}

// The pool hears of it before the sink does. What was not sent of the request is not wanted.
void ClientSession::complete(ClientStream& stream, ResponseSink& sink) {
  const bool is_whole = hasLocalEnded(stream);
  if (!is_whole && stream.outlastsAnswer()) {
    markRemoteEnd(stream);
    return;
  }
  stream.leaveSink();
  callbacks_.onStreamEnded(sink, is_whole ? StreamEnd::Complete : StreamEnd::LocalReset);
  if (is_whole) {
    // As the real server, whose codec cannot tell that its session ends with an answer, as nobody
    // wants it any more, from one that is broken.
    if (is_draining_ && !reason_ && activeStreams() == 1) reason_ = CloseReason::ProtocolError;
    endRemote(stream);
  } else {
    reset(stream, ErrorCode::NoError);
  }
  tellRoom();
}

void ClientSession::bothEnded(ClientStream& stream, ResponseSink& sink) {
  stream.leaveSink();
  callbacks_.onStreamEnded(sink, StreamEnd::Complete);
}

void ClientSession::abandon(ClientStream& stream) {
  ResponseSink* const sink = stream.sink();
  stream.leaveSink();
  if (sink) callbacks_.onStreamEnded(*sink, StreamEnd::LocalReset);
  if (stream.isOpen()) {
    reset(stream, ErrorCode::NoError);
  } else {
    --unopened_count_;
    // As the real server, to which it was active for a moment.
    showAsUsed(Gauge::StreamsActive);
    release(stream);
    if (openStreams() == 0) onLastStreamEnded();
  }
  tellRoom();
  callbacks_.serveWaiting();
}

void ClientSession::lost(ClientStream&, ResponseSink& sink, ResetReason reason,
                         std::string_view details) {
  StreamEnd end = StreamEnd::LocalReset;
  if (!isOpen() || is_over_) {
    // As the real server, which resets streams itself where the host has broken the protocol.
    end = is_broken_ ? StreamEnd::LocalReset : StreamEnd::Connection;
    if (reason == ResetReason::LocalReset) reason = ResetReason::ConnectionTermination;
  } else if (reason == ResetReason::RemoteRefused) {
    end = StreamEnd::Refused;
  } else if (reason == ResetReason::RemoteReset) {
    end = StreamEnd::RemoteReset;
    if (peer_code_ == ErrorCode::ConnectError) {
      // Which it counts nowhere.
      end = StreamEnd::Refused;
      reason = ResetReason::ConnectError;
    }
  } else if (is_too_large_) {
    // In the real server's books its library did that, and not the proxy.
    end = StreamEnd::RemoteReset;
    reason = ResetReason::RemoteReset;
  }
  callbacks_.onStreamEnded(sink, end);
  tellRoom();
  sink.onResponseReset(reason, details);
  callbacks_.serveWaiting();
}

void ClientSession::onLastStreamEnded() {
  if (unopened_count_ > 0) return;
  noteIdle();
  if (settings_.max_requests > 0 && requests_ >= settings_.max_requests && !reason_) {
    reason_ = CloseReason::MaxRequests;
  }
  if (!takesStreams() || reason_) endWhenIdle();
}

// ---- what the host says ----

std::optional<Message> ClientSession::onBlockBegin(uint32_t id) {
  const StreamBase* const stream = find(id);
  if (!stream) {
    // Hosts open no streams.
    if (isIdleId(id)) {
      fail(ErrorCode::ProtocolError, "HEADERS: stream in idle", "http2.headers_on_idle_stream");
    }
    return std::nullopt;
  }
  return hasHeadOf(*stream) ? Message::Trailers : Message::Response;
}

void ClientSession::onFields(uint32_t id, const Block& block, bool end) {
  auto& stream = static_cast<ClientStream&>(*find(id));
  telling(stream);
  if (hasHeadOf(stream)) {
    onTrailers(stream, block, end);
  } else {
    onResponse(stream, block, end);
  }
}

void ClientSession::onFaultyFields(uint32_t id, const ReadHead& read, bool) {
  auto& stream = static_cast<ClientStream&>(*find(id));
  telling(stream);
  isUnreadable(stream, read);
}

bool ClientSession::isUnreadable(ClientStream& stream, const ReadHead& read) {
  switch (read.result) {
    case ReadHead::Result::Ok:
      return false;
    case ReadHead::Result::Undecodable:
      break;
    case ReadHead::Result::Broken:
      brokenMessage(stream.id(), read.details);
      break;
    case ReadHead::Result::TooLarge:
      stats().add(read.is_count ? Counter::HeaderOverflow : Counter::HeaderListSizeTooLarge);
      is_too_large_ = true;
      streamError(stream.id(), ErrorCode::InternalError, read.details);
      is_too_large_ = false;
      break;
  }
  return true;
}

void ClientSession::onResponse(ClientStream& stream, const Block& block, bool end) {
  http::ResponseHead& head = scratch_head_;
  head.names = nullptr;
  head.joined.reset();
  ReadHead read = readFields(block, Message::Response, head.headers, head.joined);
  if (isUnreadable(stream, read)) return;
  ResponseSink* const sink = stream.sink();
  head.status = statusOf(read.pseudo.status);
  // There is no changing of protocols, no end before the answer, and no length of what is no body.
  if ((head.status < 200 && (head.status == 101 || end)) ||
      (head.status == 204 && read.length != ReadHead::kNoLength && read.length > 0)) {
    brokenMessage(stream.id(), "http2.violation.of.messaging.rule");
    return;
  }
  head.reason = {};
  head.version = http::Version::Http2;
  head.head_bytes = head.header_bytes = static_cast<uint32_t>(block.wire_bytes);
  if (http::ByteMeter* meter = sink ? &sink->upstreamMeter() : nullptr) {
    meter->wire_received += kFrameHeadBytes + block.wire_bytes;
    meter->header_received += static_cast<uint32_t>(kFrameHeadBytes + block.wire_bytes);
    meter->plain_received += read.header_bytes;
  }
  if (head.status < 200) {
    if (sink) sink->onInformational(head);
    return;
  }
  // These speak of a body that does not come: if it does, that is a fault.
  if (stream.answersHead() || head.status == 204 || head.status == 304) read.length = 0;
  headReceived(stream, read, end);
  if (end && !isWholeAtEnd(stream)) {
    wrongLength(stream.id());
    return;
  }
  if (!sink) return;
  if (!end) {
    sink->onResponseHead(head, false);
    return;
  }
  complete(stream, *sink);
  sink->onResponseHead(head, true);
  callbacks_.serveWaiting();
}

void ClientSession::onTrailers(ClientStream& stream, const Block& block, bool end) {
  http::ResponseHead& scratch = scratch_head_;
  scratch.joined.reset();
  const ReadHead read = readFields(block, Message::Trailers, scratch.headers, scratch.joined);
  if (isUnreadable(stream, read)) return;
  if (!end) {
    brokenMessage(stream.id(), "http2.violation.of.messaging.rule");
    return;
  }
  if (isLengthRefused(stream, read)) return;
  if (!isWholeAtEnd(stream)) {
    wrongLength(stream.id());
    return;
  }
  ResponseSink* const sink = stream.sink();
  if (!sink) return;
  http::ByteMeter& meter = sink->upstreamMeter();
  meter.wire_received += kFrameHeadBytes + block.wire_bytes;
  meter.header_received += static_cast<uint32_t>(kFrameHeadBytes + block.wire_bytes);
  meter.plain_received += read.header_bytes;
  complete(stream, *sink);
  if (scratch.headers.size() > 0) {
    sink->onResponseTrailers(scratch.headers);
  } else {
    sink->onResponseData({}, true);
  }
  callbacks_.serveWaiting();
}

void ClientSession::onPeerSettings() {
  tellRoom();
  callbacks_.serveWaiting();
}

// What the host has not looked at may safely be tried elsewhere.
void ClientSession::onGoAway(uint32_t last_stream, ErrorCode) {
  if (!has_goaway_) {
    has_goaway_ = true;
    is_full_ = true;
    callbacks_.onGoaway();
  }
  for (StreamBase* refused = nullptr; isOpen();) {
    refused = nullptr;
    forEachStream([&](StreamBase& stream) {
      if (stream.id() > last_stream) refused = &stream;
    });
    if (!refused) break;
    tellReset(*refused, ResetReason::RemoteRefused, "http2.remote_refuse", true);
  }
  // No stream may begin any more (RFC 9113 §6.8).
  if (isOpen()) resetUnopened(ResetReason::RemoteRefused, "http2.remote_refuse");
  if (isOpen()) endWhenIdle();
}

void ClientSession::onMoved() { counted_.tell(Session::connection(), callbacks_); }

// Before its streams hear of it, so that whoever tries again goes elsewhere.
void ClientSession::onBroken(http::Breach, std::string_view) {
  is_broken_ = true;
  over(CloseReason::ProtocolError);
}

void ClientSession::onClosing(bool by_peer) {
  over(reason_.value_or(by_peer ? CloseReason::Peer : CloseReason::Local));
}

}  // namespace fairlead::http2
