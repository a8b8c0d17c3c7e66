#include "http/http2/server_session.h"

#include <algorithm>
#include <utility>

#include "http/breach_text.h"
#include "http/http2/stream_pool.h"

namespace fairlead::http2 {

using http::ResetReason;
using Opening = http::ServerCodecCallbacks::Opening;

ServerSession::ServerSession(net::Connection& connection, const http::ServerSettings& settings,
                             const http::CodecScratch& scratch,
                             http::ServerCodecCallbacks& callbacks)
    : Session(Side::Server, connection, *settings.http2_options, settings.limits, scratch,
              callbacks.http2Stats()),
      settings_(settings),
      callbacks_(callbacks),
      idle_since_(connection.loop().now()) {
  delayed_close_ms_ = settings.delayed_close_ms;
  if (const auto& burst = options().stream_reset_burst) {
    reset_tokens_ = uint64_t{*burst} * 1000;
    reset_tokens_at_ = idle_since_;
  }
  beginIdle();
}

ServerSession::~ServerSession() {
  // Nobody is there any more who could be told.
  forEachStream([](StreamBase& stream) { static_cast<ServerStream&>(stream).waiting_ = nullptr; });
  endStreams();
}

// ---- the connection ----

void ServerSession::endAfter(net::Millis ms) {
  if (!isOpen() || isLingering() || end_ != net::kNever) return;
  if (!hasBegun()) {
    if (connection().readBytes() == 0) {
      Session::finish(0, settings_.delayed_close_ms);
      return;
    }
    begin();
  }
  // Clients that are about to ask are told in time; what they ask until then is answered.
  goAway(kMostStreamId, ErrorCode::NoError);
  end_ = loop().now() + ms;
  rearm();
}

// What announces an end, before, is not counted.
void ServerSession::lastGoAway() {
  goAway(lastStream(), ErrorCode::NoError);
  stats().add(Counter::GoawaySent);
}

bool ServerSession::mayLookAtRead() {
  if (!scratch().overload.isActive()) return true;
  using Dispatch = http::ServerCodecCallbacks::Dispatch;
  switch (callbacks_.onDispatch()) {
    case Dispatch::Go:
      return isOpen();
    case Dispatch::GoAway:
      begin();
      lastGoAway();
      resetAll(ResetReason::LocalReset, "forced_goaway");
      [[fallthrough]];
    case Dispatch::Drop:
      if (isOpen()) Session::finish(settings_.delayed_close_ms, settings_.delayed_close_ms);
      return false;
  }
  return true;
}

void ServerSession::abort() {
  close(false, ResetReason::LocalReset, "downstream_local_disconnect");
}

bool ServerSession::isIdleFor(net::Millis ms) const {
  return openStreams() == 0 && !hasLeftover() && connection().pendingBytes() == 0 &&
         net::Loop::readClockMicros() / 1000 >= idle_since_ + ms;
}

void ServerSession::tellHolders(Holders* into) {
  forEachStream([into](const StreamBase& stream) {
    const auto& one = static_cast<const ServerStream&>(stream);
    const size_t waiting = one.pendingMemory();
    into->add(one.id(), one.sink_ ? one.sink_->heldMemory(waiting) : waiting);
  });
}

http::ServerCodec::Shed ServerSession::shedStream(uint32_t id) {
  StreamBase* const stream = find(id);
  if (!stream) return Shed::Gone;
  const auto& one = static_cast<const ServerStream&>(*stream);
  const bool is_told = one.sink_ || one.waiting_;
  sendReset(id, ErrorCode::InternalError);
  tellReset(*stream, ResetReason::Overload, "overload", true);
  return is_told ? Shed::Told : Shed::Left;
}

void ServerSession::beginIdle() {
  idle_since_ = loop().now();
  if (settings_.idle_timeout_ms == 0) return;
  idle_deadline_ = idle_since_ + idleTimeout();
  rearm();
}

net::Millis ServerSession::idleTimeout() const {
  if (settings_.bypasses_overload) return settings_.idle_timeout_ms;
  return scratch().overload.scaled(net::Overload::TimerType::ConnectionIdle,
                                   settings_.idle_timeout_ms);
}

net::Millis ServerSession::flushTimeoutOf(const StreamBase& stream) const {
  const net::Millis timeout = ownFlushTimeout(stream).value_or(settings_.flush_timeout_ms);
  if (settings_.bypasses_overload) return timeout;
  return scratch().overload.scaled(net::Overload::TimerType::StreamFlush, timeout);
}

void ServerSession::onRescale() {
  if (idle_deadline_ == net::kNever) return;
  idle_deadline_ = idle_since_ + idleTimeout();
  rearm();
}

net::Millis ServerSession::nextDeadline() const { return std::min(end_, idle_deadline_); }

void ServerSession::onDeadline(net::Millis now) {
  if (end_ <= now) {
    end_ = idle_deadline_ = net::kNever;
    ends_after_streams_ = true;
    lastGoAway();
    if (openStreams() == 0) Session::finish(settings_.delayed_close_ms, settings_.delayed_close_ms);
    return;
  }
  idle_deadline_ = net::kNever;
  callbacks_.onIdleTimeout();
}

void ServerSession::onLastStreamEnded() {
  if (!ends_after_streams_) {
    beginIdle();
    return;
  }
  if (isLingering()) return;
  if (!isRefusing()) lastGoAway();
  Session::finish(settings_.delayed_close_ms, settings_.delayed_close_ms);
}

void ServerSession::onMoved() {
  callbacks_.onBytes(connection().readBytes(), connection().writtenBytes());
}

void ServerSession::onBroken(http::Breach breach, std::string_view details) {
  callbacks_.onProtocolError(breach, details);
  callbacks_.onBroken(http::breachText(details));
}

void ServerSession::onOver(bool by_peer) { callbacks_.onConnectionClosed(by_peer); }

// Who opens streams only to reset them makes work that nobody waits for: stream_reset_burst and
// stream_reset_rate say how many may be.
void ServerSession::onPeerReset(ErrorCode) {
  const auto& burst = options().stream_reset_burst;
  if (!burst) return;
  const net::Millis now = loop().now();
  const uint64_t gained =
      (now - std::exchange(reset_tokens_at_, now)) * options().stream_reset_rate;
  reset_tokens_ = std::min(reset_tokens_ + gained, uint64_t{*burst} * 1000);
  if (reset_tokens_ < 1000) {
    goAway(lastStream(), ErrorCode::EnhanceYourCalm, "too many resets");
    flooded("http2.stream_reset_flood");
    return;
  }
  reset_tokens_ -= 1000;
}

// ---- streams ----

ServerStream& ServerSession::newStream(uint32_t id, Opening opening, size_t wire_bytes) {
  StreamPools* const pools = scratch().http2;
  ServerStream* const stream = pools ? pools->server.take() : new ServerStream;
  open(*stream, id);
  idle_deadline_ = net::kNever;
  stream->sink_ = callbacks_.newStream(*stream, opening);
  stream->meter_ = &stream->sink_->downstreamMeter();
  stream->meter_->wire_received += wire_bytes;
  stream->meter_->header_received += static_cast<uint32_t>(wire_bytes);
  return *stream;
}

void ServerSession::release(StreamBase& stream) {
  auto& released = static_cast<ServerStream&>(stream);
  http::RequestSink* const waiting = released.waiting_;
  const bool is_sent = hasLocalEnded(stream) && !isEndPending(stream);
  released.clear();
  if (StreamPools* pools = scratch().http2) {
    pools->server.give(&released, loop());
  } else {
    net::buryIn(loop(), std::unique_ptr<ServerStream>(&released));
  }
  if (!waiting) return;
  if (is_sent) {
    waiting->onAnswerComplete();
  } else {
    waiting->onAnswerDropped();
  }
}

// ---- requests ----

std::optional<Message> ServerSession::onBlockBegin(uint32_t id) {
  if (find(id)) return Message::Trailers;
  if (isIdleId(id) && mayOpen(id)) return Message::Request;
  return std::nullopt;
}

void ServerSession::onFields(uint32_t id, const Block& block, bool end) {
  if (StreamBase* stream = find(id)) {
    onTrailers(static_cast<ServerStream&>(*stream), block, end);
  } else {
    onRequest(id, block, end);
  }
}

void ServerSession::onFaultyFields(uint32_t id, const ReadHead& read, bool end) {
  if (StreamBase* stream = find(id)) {
    stats().add(Counter::Trailers);
    refuseTrailers(static_cast<ServerStream&>(*stream), read);
  } else {
    refuseRequest(id, read, end);
  }
}

bool ServerSession::mayOpen(uint32_t id) {
  if (id % 2 == 0) {
    failSilently("http2.invalid_stream_id");
    return false;
  }
  // It was told that these are not looked at: it asks again elsewhere.
  if (isRefusing()) {
    sawStream(id);
    remember(id, true);
    return false;
  }
  sawStream(id);
  if (openStreams() < options().max_concurrent_streams) return true;
  if (haveSettingsCome()) {
    failSilently("http2.too_many_streams");
  } else {
    stats().add(Counter::StreamRefusedErrors);
    streamError(id, ErrorCode::RefusedStream, {});
  }
  return false;
}

// As the real server, which takes a message up where its block begins.
void ServerSession::onCutBlock(uint32_t id) {
  if (find(id)) {
    stats().add(Counter::Trailers);
  } else {
    newStream(id, Opening::Malformed, 0);
  }
}

void ServerSession::onRequest(uint32_t id, const Block& block, bool end) {
  http::RequestHead& head = scratch().request;
  head.names = nullptr;
  const ReadHead read = readFields(block, Message::Request, head.headers, head.joined);
  const bool is_whole = !end || read.length == ReadHead::kNoLength || read.length == 0;
  if (read.result != ReadHead::Result::Ok || !is_whole) {
    refuseRequest(id, read, end);
    return;
  }
  // As the real server, which counts frames that it has taken.
  ServerStream& stream = newStream(id, Opening::Request, kFrameHeadBytes + block.wire_bytes);
  stream.meter_->plain_received += read.header_bytes;
  headReceived(stream, read, end);
  head.version = http::Version::Http2;
  head.method = read.pseudo.method;
  head.scheme = read.pseudo.scheme;
  head.target = head.path = read.pseudo.path;
  head.authority = read.pseudo.authority;
  head.protocol = read.pseudo.protocol;
  head.upgrades = false;
  head.head_bytes = static_cast<uint32_t>(block.wire_bytes);
  head.header_bytes = read.header_bytes;
  telling(stream);
  head_told_ = &stream;
  stream.sink_->onRequestHead(head, end);
  head_told_ = nullptr;
}

void ServerSession::refuseRequest(uint32_t id, const ReadHead& read, bool end) {
  const bool is_too_large = read.result == ReadHead::Result::TooLarge;
  const bool is_undecodable = read.result == ReadHead::Result::Undecodable;
  const bool only_resets = options().only_resets_invalid && !is_undecodable;
  ServerStream& stream = newStream(id,
                                   is_too_large  ? Opening::Request
                                   : only_resets ? Opening::Unfinished
                                                 : Opening::Malformed,
                                   0);
  if (is_undecodable) {
    failUndecodable();
    return;
  }
  headReceived(stream, read, end);
  if (is_too_large) {
    refuseTooLarge(stream, read);
    return;
  }
  const bool is_ok = read.result == ReadHead::Result::Ok;
  brokenMessage(id, is_ok ? "http2.violation.of.messaging.rule" : read.details);
}

void ServerSession::refuseTooLarge(ServerStream& stream, const ReadHead& read) {
  countTooLarge(read);
  sendReset(stream.id(), ErrorCode::InternalError);
  if (stream.meter_) {
    stream.meter_->wire_sent += kFrameHeadBytes + sizeof(ErrorCode);
    // As far as it was read.
    stream.meter_->plain_received += read.header_bytes;
  }
  tellReset(stream, ResetReason::TooLarge, read.details, true);
}

void ServerSession::refuseTrailers(ServerStream& stream, const ReadHead& read) {
  if (read.result == ReadHead::Result::TooLarge) {
    refuseTooLarge(stream, read);
  } else if (read.result == ReadHead::Result::Broken) {
    brokenMessage(stream.id(), read.details);
  }
}

void ServerSession::onTrailers(ServerStream& stream, const Block& block, bool end) {
  http::RequestHead& scratch = this->scratch().request;
  const ReadHead read = readFields(block, Message::Trailers, scratch.headers, scratch.joined);
  stats().add(Counter::Trailers);
  if (read.result != ReadHead::Result::Ok) {
    refuseTrailers(stream, read);
    return;
  }
  if (isLengthRefused(stream, read)) return;
  // Trailers are the end (8.1).
  if (!end || !isWholeAtEnd(stream)) {
    brokenMessage(stream.id(), "http2.violation.of.messaging.rule");
    return;
  }
  if (stream.meter_) {
    stream.meter_->wire_received += kFrameHeadBytes + block.wire_bytes;
    stream.meter_->header_received += static_cast<uint32_t>(kFrameHeadBytes + block.wire_bytes);
    stream.meter_->plain_received += read.header_bytes;
  }
  if (!stream.sink_) {
    // Its answer was whole before.
    endRemote(stream);
    return;
  }
  markRemoteEnd(stream);
  telling(stream);
  if (scratch.headers.size() > 0) {
    stream.sink_->onRequestTrailers(scratch.headers);
  } else {
    stream.sink_->onRequestData({}, true);
  }
}

}  // namespace fairlead::http2
