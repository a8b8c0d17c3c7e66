#include "http/http1/server_connection.h"

#include <algorithm>

#include "http/target.h"

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
  if (settings_.idle_timeout_ms > 0) watch(loop().now() + settings_.idle_timeout_ms);
  if (loop().add(fd(), this)) return true;
  abort();
  return false;
}

void ServerConnection::drain() {
  draining_ = true;
  if (state_ == State::Head && !stream_) finish(Linger::None);
}

// ---- reading ----

void ServerConnection::onReadable() {
  // What is told inside of consume() may resume reading: the loops here go on anyway.
  if (consuming_) return;
  while (isOpen() && !isReadingPaused()) {
    if (state_ == State::Complete) {
      // A client that leaves while it is being answered; pipelined bytes wait where they are.
      if (hasPeerEnded()) onPeerEnd();
      return;
    }
    if (mustWaitForClient()) return;
    if (leftover_ && scanned_bytes_ == 0) {
      consumeLeftover();
      continue;
    }
    if (!isReadable()) return;
    const Read got = read();
    switch (got.result) {
      case ReadResult::Nothing:
        return;
      case ReadResult::End:
      case ReadResult::Failed:
        onPeerEnd();
        return;
      case ReadResult::Data:
        break;
    }
    if (state_ == State::Lingering) continue;
    if (!leftover_) {
      consume(got.data, got.size, nullptr);
      continue;
    }
    const size_t before = leftover_->size();
    leftover_->append(got.data, got.size);
    if (isWorthScanning(before)) consumeLeftover();
  }
}

// A client that sends requests and takes no answers gets no more of them.
bool ServerConnection::mustWaitForClient() const {
  return state_ == State::Head && Connection::isOverHighWatermark();
}

// A head that comes in crumbs is looked at again when it may be whole, too large, or twice as long:
// so all looks together cost no more than a few at the whole.
bool ServerConnection::isWorthScanning(size_t bytes_before) const {
  const size_t size = leftover_->size();
  return size > settings_.limits.max_head_bytes || size >= 2 * scanned_bytes_ ||
         mayEndHead(leftover_->data(), size, bytes_before);
}

void ServerConnection::consumeLeftover() {
  std::unique_ptr<std::string> bytes = std::move(leftover_);
  scanned_bytes_ = 0;
  char* const data = bytes->data();
  const size_t size = bytes->size();
  consume(data, size, std::move(bytes));
}

// `owner` holds the data, or nothing does but the loop.
void ServerConnection::consume(char* data, size_t size, std::unique_ptr<std::string> owner) {
  consuming_ = true;
  RequestSink* told = nullptr;
  while (size > 0 && isOpen() && !mustWaitForClient()) {
    size_t used = 0;
    switch (state_) {
      case State::Head:
        used = consumeHead(data, size);
        break;
      case State::Body:
        used = in_trailers_ ? consumeTrailers(data, size)
                            : (chunked_ ? consumeChunks(data, size) : consumeBody(data, size));
        break;
      case State::Raw:
        stream_->onRequestData({data, size}, false);
        used = size;
        break;
      case State::Complete:
        break;
      case State::Lingering:
      case State::Closed:
        used = size;
        break;
    }
    if (stream_) told = stream_;
    data += used;
    size -= used;
    if (used == 0) break;
  }
  if (size > 0 && isOpen()) keep(data, size, std::move(owner));
  consuming_ = false;
  if (told && told == stream_) stream_->onRequestReadEnd();
  if (isOpen()) countBytes();
}

void ServerConnection::keep(const char* data, size_t size, std::unique_ptr<std::string> owner) {
  if (owner) {
    owner->erase(0, owner->size() - size);
    leftover_ = std::move(owner);
  } else {
    leftover_ = std::make_unique<std::string>(data, size);
  }
}

size_t ServerConnection::consumeHead(char* data, size_t size) {
  http::RequestHead& head = scratch_;
  const ScanResult scan = scanRequest(data, size, settings_.limits, &head);
  if (scan.state == Scan::Incomplete) return waitForHead(data, size);
  if (scan.state == Scan::Error) {
    callbacks_.onCodecError(scan.error);
    return size;
  }
  const FramingResult framing = requestFraming(head, settings_.framing);
  if (!framing.ok) {
    callbacks_.onCodecError(framing.error);
    return size;
  }
  http::Target target;
  const std::string_view details = http::parseTarget(head.method, head.target, &target);
  if (!details.empty()) {
    callbacks_.onCodecError({400, details});
    return size;
  }
  head.path = target.path;
  head.authority = target.authority;
  for (http::HeaderEntry& entry : head.headers) {
    if (entry.id != http::HeaderId::Host) continue;
    if (target.form == http::Target::Form::Origin || target.form == http::Target::Form::Asterisk) {
      head.authority = {entry.value_data, entry.value_size};
    }
    entry.remove();
  }
  if (!http::isValidAuthority(head.authority)) {
    callbacks_.onCodecError({400, http::kInvalidAuthorityDetails});
    return size;
  }
  if (head.version == http::Version::Http10 && !settings_.accept_http_10) {
    callbacks_.onCodecError({426, "low_version"});
    return size;
  }
  const uint32_t used = head.head_bytes;
  chunked_ = framing.framing.kind == BodyFraming::Kind::Chunked;
  in_trailers_ = false;
  body_remaining_ = framing.framing.length_bytes;
  const bool end = framing.framing.kind == BodyFraming::Kind::None;
  if (chunked_) chunks_.reset();
  close_after_ = false;
  in_head_ = false;
  deadline_ = net::kNever;
  state_ = end ? State::Complete : State::Body;
  stream_ = callbacks_.newStream(*this);
  stream_->onRequestHead(head, end);
  return used;
}

// Empty lines before a head are dropped; for the rest of it more must come.
size_t ServerConnection::waitForHead(const char* data, size_t size) {
  const size_t dropped = emptyLineBytes(data, size);
  if (dropped > 0) return dropped;
  scanned_bytes_ = static_cast<uint32_t>(size);
  if (in_head_) return 0;
  in_head_ = true;
  deadline_ = net::kNever;
  if (settings_.head_timeout_ms > 0) watch(loop().now() + settings_.head_timeout_ms);
  return 0;
}

size_t ServerConnection::consumeBody(char* data, size_t size) {
  const size_t part = static_cast<size_t>(std::min<uint64_t>(size, body_remaining_));
  body_remaining_ -= part;
  const bool end = body_remaining_ == 0;
  if (end) state_ = State::Complete;
  stream_->onRequestData({data, part}, end);
  return part;
}

size_t ServerConnection::consumeChunks(char* data, size_t size) {
  size_t used = 0;
  while (used < size && isOpen() && state_ == State::Body) {
    const ChunkDecoder::Result step = chunks_.next({data + used, size - used});
    used += step.consumed;
    switch (step.step) {
      case ChunkDecoder::Step::Data:
        stream_->onRequestData(step.data, false);
        break;
      case ChunkDecoder::Step::NeedMore:
        return used;
      case ChunkDecoder::Step::Trailers:
        in_trailers_ = true;
        return used < size ? used + consumeTrailers(data + used, size - used) : used;
      case ChunkDecoder::Step::Error:
        stream_->onRequestBroken(400, "http1.codec_error");
        return size;
    }
  }
  return used;
}

size_t ServerConnection::consumeTrailers(char* data, size_t size) {
  http::HeaderMap* const trailers = settings_.enable_trailers ? &scratch_.headers : nullptr;
  size_t used = 0;
  const ScanResult scan = scanTrailers(data, size, settings_.limits, trailers, &used);
  if (scan.state == Scan::Incomplete) {
    scanned_bytes_ = static_cast<uint32_t>(size);
    return 0;
  }
  if (scan.state == Scan::Error) {
    stream_->onRequestBroken(scan.error.status, scan.error.details);
    return size;
  }
  state_ = State::Complete;
  if (trailers && trailers->size() > 0) {
    stream_->onRequestTrailers(*trailers);
  } else {
    stream_->onRequestData({}, true);
  }
  return used;
}

void ServerConnection::onPeerEnd() {
  if (RequestSink* stream = stream_) {
    stream_ = nullptr;
    stream->onRequestReset(ResetReason::ConnectionTermination, "downstream_remote_disconnect");
  }
  closed(true, CloseKind::Fin);
}

// ---- the exchange ----

void ServerConnection::answerComplete() {
  stream_ = nullptr;
  out_body_ = OutBody::None;
  flush();
  if (!isOpen()) return;
  // An answer before the request was read: the rest of it cannot be told from the next request
  // cheaply, so the connection ends; the answer's head said so.
  if (close_after_ || state_ == State::Body) {
    finish(state_ == State::Body || linger_delayed_ ? Linger::Delayed : Linger::None);
    return;
  }
  if (state_ == State::Complete) finishExchange();
}

void ServerConnection::finishExchange() {
  state_ = State::Head;
  forgetPauses();
  countBytes();
  if (draining_) {
    finish(Linger::None);
    return;
  }
  if (settings_.idle_timeout_ms > 0) watch(loop().now() + settings_.idle_timeout_ms);
  // The next request may be here already. Inside consume() the loop there goes on with it.
  if (!consuming_ && !isReadingPaused() && (leftover_ || isReadable())) onReadable();
}

// ---- writing ----

void ServerConnection::sendInformational(uint16_t status, http::HeaderMap* headers) {
  batch_.claim(this);
  writeInformational(batch_, status, headers);
  flush();
}

void ServerConnection::sendHead(const http::ResponseOut& head, bool end) {
  batch_.claim(this);
  close_after_ = head.close_after;
  linger_delayed_ = head.linger;
  out_body_ = writeResponseHead(batch_, head, end);
  if (out_body_ == OutBody::UntilClose && !head.to_connect) close_after_ = true;
  if (head.status == 101 || head.to_connect) {
    state_ = State::Raw;
    // Bytes that came after the request's head are the tunnel's first ones.
    if (leftover_) loop().defer(this);
  }
  if (end) answerComplete();
}

void ServerConnection::sendData(std::string_view data, bool end) {
  batch_.claim(this);
  if (batch_.isAlmostFull()) flush();
  if (!data.empty()) {
    if (out_body_ == OutBody::Chunked) {
      writeChunkStart(batch_, data.size());
      batch_.addView(data);
      writeChunkEnd(batch_);
    } else {
      batch_.addView(data);
    }
  }
  if (end) sendTrailers(nullptr);
}

void ServerConnection::sendTrailers(http::HeaderMap* trailers) {
  batch_.claim(this);
  if (out_body_ == OutBody::Chunked) {
    writeLastChunk(batch_, settings_.enable_trailers ? trailers : nullptr);
  }
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
  if (end) answerComplete();
}

void ServerConnection::reset() {
  stream_ = nullptr;
  flush();
  finish(Linger::Delayed);
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
  if (RequestSink* stream = stream_) {
    stream_ = nullptr;
    stream->onRequestReset(ResetReason::LocalReset, "downstream_local_disconnect");
  }
  close(kind);
  callbacks_.onConnectionClosed(by_peer);
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
    if (in_head_) {
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
