#include "http/http1/server_connection.h"

#include <sys/socket.h>

#include <utility>

#include "http/breach_text.h"

namespace fairlead::http1 {

using http::HeaderId;
using http::RequestSink;
using http::ResetReason;

namespace {

std::string_view breachText(const ScanError& error) {
  switch (error.fault) {
    case ScanError::Fault::ByDetails:
      break;
    case ScanError::Fault::Method:
      return "http/1.1 protocol error: HPE_INVALID_METHOD";
    case ScanError::Fault::Version:
      return "http/1.1 protocol error: HPE_INVALID_VERSION";
    case ScanError::Fault::NoColon:
      return "http/1.1 protocol error: HEADER_MISSING_COLON";
    case ScanError::Fault::HeaderName:
      return "http/1.1 protocol error: INVALID_HEADER_NAME_CHARACTER";
    case ScanError::Fault::HeaderFormat:
      return "http/1.1 protocol error: INVALID_HEADER_FORMAT";
    case ScanError::Fault::Length:
      return "http/1.1 protocol error: UNPARSABLE_CONTENT_LENGTH";
    case ScanError::Fault::Lengths:
      return "http/1.1 protocol error: HPE_UNEXPECTED_CONTENT_LENGTH";
    case ScanError::Fault::Chunk:
      return "http/1.1 protocol error: INVALID_CHUNK_LENGTH";
  }
  return http::breachText(error.details);
}

}  // namespace

ServerConnection::ServerConnection(net::Connection& connection,
                                   const http::ServerSettings& settings,
                                   const http::CodecScratch& scratch,
                                   http::ServerCodecCallbacks& callbacks)
    : connection_(connection),
      settings_(settings),
      scratch_(scratch),
      callbacks_(callbacks),
      idle_since_(connection.loop().now()) {
  connection_.setHandler(*this);
  if (settings_.idle_timeout_ms > 0) watch(idle_since_ + idleTimeout());
}

ServerConnection::~ServerConnection() {
  if (isOpen()) connection_.close();
}

void ServerConnection::endAfter(net::Millis ms) {
  touchRare().end = connection_.loop().now() + ms;
  if (state_ == State::Head && !in_head_) watch(endsAt());
}

bool ServerConnection::isIdleFor(net::Millis ms) const {
  if (net::Loop::readClockMicros() / 1000 < idle_since_ + ms) return false;
  connection_.settle();
  if (state_ != State::Head || in_head_ || leftover_ || connection_.pendingBytes() > 0)
    return false;
  char byte;
  return ::recv(connection_.fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0;
}

// ---- the exchange ----

void ServerConnection::openStream(Opening opening) {
  stream_ = callbacks_.newStream(*this, opening);
  meter_ = &stream_->downstreamMeter();
  meter_->wire_received += std::exchange(unclaimed_bytes_, 0);
}

// What came is no request, or too much of one: whoever answers in its place ends the connection.
void ServerConnection::refuse(const ScanError& error, uint32_t header_bytes) {
  close_requested_ = keep_alive_asked_ = http_10_ = head_request_ = connect_request_ = false;
  callbacks_.onBroken(breachText(error));
  openStream(Opening::Malformed);
  meter_->header_received += header_bytes;
  meter_->plain_received += header_bytes;
  stream_->onRequestBroken(error.status, error.details);
}

// The rest of it is not what its head has announced.
void ServerConnection::breakRequest(const ScanError& error) {
  callbacks_.onBroken(breachText(error));
  stream_->onRequestBroken(error.status, error.details);
}

void ServerConnection::answerComplete() {
  meter_ = nullptr;
  unclaimed_bytes_ = 0;
  out_body_ = OutBody::None;
  if (RequestSink* stream = std::exchange(stream_, nullptr)) stream->onAnswerComplete();
  flush();
  if (!isOpen()) return;
  // An answer before the request was read: the rest of it cannot be told from the next request
  // cheaply, so the connection ends; the answer's head said so. A tunnel that ends has no next.
  if (close_after_ || state_ == State::Body || state_ == State::Raw) {
    finish(endsAtOnce() ? Linger::None : Linger::Delayed);
    return;
  }
  if (state_ == State::Complete) finishExchange();
}

// As the real server: only who knows that this is the end, and has said all, is not waited for.
// What is answered while its bytes are read is not told apart from what is answered before its end.
bool ServerConnection::endsAtOnce() const {
  return says_end_ && !consuming_ && (state_ == State::Complete || unframed_);
}

void ServerConnection::finishExchange() {
  state_ = State::Head;
  idle_since_ = connection_.loop().now();
  connection_.forgetPauses();
  countBytes();
  if (endsAt() <= idle_since_) {
    finish(Linger::Delayed);
    return;
  }
  if (endsAt() != net::kNever) {
    watch(endsAt());
  } else if (settings_.idle_timeout_ms > 0) {
    watch(idle_since_ + idleTimeout());
  }
  // The next request may be here already. Inside consume() the loop there goes on with it.
  if (!consuming_ && (leftover_ || connection_.isReadable())) connection_.readSoon();
}

// ---- writing ----

void ServerConnection::sendInformational(uint16_t status, http::HeaderMap* headers) {
  scratch_.batch.claim(connection_);
  const ResponseForm form{.http_10 = http_10_, .proper_case = settings_.proper_case_words};
  count(writeInformational(scratch_.batch, status, headers, form));
  flush();
}

void ServerConnection::finishHead(http::ResponseOut& head, bool end) {
  http::HeaderMap& headers = *head.headers;
  // A tunnel ends with its connection, of which there is nothing to say; its client is given time
  // to end it.
  if (opensTunnel(head.status, end)) {
    close_after_ = says_end_ = unframed_ = false;
    return;
  }
  // Without a length, only the end of the connection ends a body in HTTP/1.0; the real server does
  // not ask whether there is one.
  unframed_ = http_10_ && !headers.find(HeaderId::ContentLength);
  const bool is_early = state_ != State::Complete;
  says_end_ = close_requested_ || unframed_ || (head.close && !is_early);
  close_after_ = says_end_ || is_early;
  if (close_after_ || endsAt() != net::kNever) {
    headers.add(HeaderId::Connection, "connection", "close");
  } else if (keep_alive_asked_) {
    headers.add(HeaderId::Connection, "connection", "keep-alive");
  }
}

void ServerConnection::count(const WrittenHead& written) {
  meter_->wire_sent += written.bytes;
  meter_->header_sent += static_cast<uint32_t>(written.header_bytes);
  meter_->plain_sent += static_cast<uint32_t>(written.header_bytes);
}

void ServerConnection::sendHead(const http::ResponseOut& head, bool end) {
  scratch_.batch.claim(connection_);
  const ResponseForm form{.to_head = head_request_,
                          .to_tunnel = opensTunnel(head.status, end),
                          .http_10 = http_10_,
                          .proper_case = settings_.proper_case_words};
  const WrittenHead written = writeResponseHead(scratch_.batch, head, form, end);
  out_body_ = written.body;
  count(written);
  if (out_body_ == OutBody::UntilClose && !form.to_tunnel) close_after_ = true;
  if (end) answerComplete();
}

void ServerConnection::sendData(std::string_view data, bool end) {
  scratch_.batch.claim(connection_);
  if (scratch_.batch.isAlmostFull()) flush();
  // What follows a head without a body would be taken for the next answer.
  if (out_body_ != OutBody::None) meter_->wire_sent += writeData(scratch_.batch, out_body_, data);
  if (end) sendTrailers(nullptr);
}

void ServerConnection::sendTrailers(http::HeaderMap* trailers) {
  scratch_.batch.claim(connection_);
  count(writeEnd(scratch_.batch, out_body_, settings_.enable_trailers ? trailers : nullptr));
  answerComplete();
}

void ServerConnection::flush() {
  scratch_.batch.claim(connection_);
  connection_.sendSoon(scratch_.batch);
}

void ServerConnection::resumeReading() {
  connection_.resumeReading();
  if (leftover_) connection_.readSoon();
}

http::RawSink* ServerConnection::rawSink() {
  return out_body_ == OutBody::Length && !connection_.transport() ? this : nullptr;
}

void ServerConnection::onGiven(size_t bytes, bool end) {
  connection_.countSpliced(0, bytes);
  meter_->wire_sent += bytes;
  if (end) answerComplete();
}

void ServerConnection::reset() {
  stream_ = nullptr;
  meter_ = nullptr;
  flush();
  finish(close_requested_ && state_ == State::Complete ? Linger::None : Linger::Delayed);
}

// ---- the end ----

void ServerConnection::finish(Linger linger) {
  if (!isOpen()) return;
  connection_.settle();
  callbacks_.onEnding({});
  if (linger == Linger::None && connection_.pendingBytes() == 0) {
    closed(false);
    return;
  }
  state_ = State::Lingering;
  leftover_.reset();
  connection_.forgetPauses();
  countBytes();
  linger_delayed_ = linger == Linger::Delayed && settings_.delayed_close_ms > 0;
  if (!linger_delayed_ && connection_.pendingBytes() == 0) {
    closed(false);
    return;
  }
  deadline_ = net::kNever;
  if (settings_.delayed_close_ms > 0) watchLinger();
  if (!consuming_ && connection_.isReadable()) connection_.readSoon();
}

void ServerConnection::closed(bool by_peer) {
  if (!isOpen()) return;
  state_ = State::Closed;
  Timer::disarm();
  scratch_.batch.dropOf(connection_);
  countBytes();
  resetStream(ResetReason::LocalReset, "downstream_local_disconnect");
  connection_.close();
  callbacks_.onConnectionClosed(by_peer);
}

// A connection has one stream at a time. The real server leaves it open behind the request that it
// sheds, and its client without an answer.
void ServerConnection::tellHolders(Holders* into) {
  if (stream_) into->add(0, stream_->heldMemory(connection_.pendingMemory()));
}

http::ServerCodec::Shed ServerConnection::shedStream(uint32_t) {
  if (!stream_) return Shed::Gone;
  resetStream(ResetReason::Overload, "overload");
  closed(false);
  return Shed::Told;
}

// ---- events ----

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
      closed(false);
      return;
    }
    watchLinger();
    return;
  }
  if (stream_) stream_->onDownstreamWritable();
}

void ServerConnection::onWritable() {
  if (stream_) stream_->onDownstreamWritable();
}

void ServerConnection::watch(net::Millis deadline) {
  deadline_ = deadline;
  connection_.loop().timers().armBy(this, deadline);
}

net::Millis ServerConnection::idleTimeout() const {
  if (settings_.bypasses_overload) return settings_.idle_timeout_ms;
  return scratch_.overload.scaled(net::Overload::TimerType::ConnectionIdle,
                                  settings_.idle_timeout_ms);
}

void ServerConnection::onRescale() {
  const bool is_idle = state_ == State::Head && !stream_ && !in_head_;
  if (is_idle && endsAt() == net::kNever && settings_.idle_timeout_ms > 0) {
    watch(idle_since_ + idleTimeout());
  }
}

void ServerConnection::watchLinger() {
  written_before_linger_ = static_cast<uint32_t>(connection_.writtenBytes());
  watch(connection_.loop().now() + settings_.delayed_close_ms);
}

void ServerConnection::onTimer() {
  const net::Millis now = connection_.loop().now();
  if (deadline_ == net::kNever) return;
  if (deadline_ > now) {
    connection_.loop().timers().arm(this, deadline_);
    return;
  }
  deadline_ = net::kNever;
  if (state_ == State::Lingering) {
    // Time runs only while nothing moves: a slow client gets its answer whole.
    if (static_cast<uint32_t>(connection_.writtenBytes()) != written_before_linger_) {
      countBytes();
      watchLinger();
      return;
    }
    callbacks_.onDelayedCloseTimeout();
    closed(false);
  } else if (state_ == State::Head && !stream_) {
    if (endsAt() <= now) {
      finish(Linger::Delayed);
    } else if (leaveHead()) {
      openStream(Opening::Unfinished);
      stream_->onRequestHeadTimeout();
    } else {
      callbacks_.onIdleTimeout();
    }
  }
}

void ServerConnection::countBytes() {
  callbacks_.onBytes(connection_.readBytes(), connection_.writtenBytes());
}

}  // namespace fairlead::http1
