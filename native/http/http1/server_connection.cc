#include "http/http1/server_connection.h"

#include <algorithm>
#include <cstring>

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
  // A body's handler may resume reading from inside consume(): the loop below goes on anyway.
  if (consuming_) return;
  while (isOpen() && !isReadingPaused()) {
    if (state_ == State::Complete) {
      // A client that leaves while it is being answered; pipelined bytes wait where they are.
      if (hasPeerEnded()) onPeerEnd();
      return;
    }
    if (leftover_ && state_ != State::Lingering) {
      const std::unique_ptr<std::string> bytes = std::move(leftover_);
      consume(bytes->data(), bytes->size());
      // An incomplete head: only new bytes help.
      if (leftover_ && leftover_->size() == bytes->size() && !isReadable()) return;
      if (leftover_ && leftover_->size() < bytes->size()) continue;
      if (!leftover_) continue;
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
    if (leftover_) {
      leftover_->append(got.data, got.size);
      // A head that comes in crumbs is looked at again at each line's end, not at each byte.
      if (leftover_->size() <= settings_.limits.max_head_bytes &&
          !std::memchr(got.data, '\n', got.size)) {
        continue;
      }
      const std::unique_ptr<std::string> bytes = std::move(leftover_);
      consume(bytes->data(), bytes->size());
    } else {
      consume(got.data, got.size);
    }
  }
}

void ServerConnection::consume(char* data, size_t size) {
  consuming_ = true;
  RequestSink* told = nullptr;
  while (size > 0 && isOpen()) {
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
    if (used == 0) {
      keep(data, size);
      break;
    }
  }
  consuming_ = false;
  if (told && told == stream_) stream_->onRequestReadEnd();
  if (isOpen()) countBytes();
}

void ServerConnection::keep(const char* data, size_t size) {
  leftover_ = std::make_unique<std::string>(data, size);
  if (state_ != State::Head || in_head_) return;
  in_head_ = true;
  deadline_ = net::kNever;
  if (settings_.head_timeout_ms > 0) watch(loop().now() + settings_.head_timeout_ms);
}

size_t ServerConnection::consumeHead(char* data, size_t size) {
  http::RequestHead& head = scratch_;
  const ScanResult scan = scanRequest(data, size, settings_.limits, &head);
  if (scan.state == Scan::Incomplete) return 0;
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
  if (head.version == http::Version::Http10 && !settings_.accept_http_10) {
    callbacks_.onCodecError({426, "low_version"});
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
  const uint32_t used = head.head_bytes;
  chunked_ = framing.framing.kind == BodyFraming::Kind::Chunked;
  in_trailers_ = false;
  body_remaining_ = framing.framing.length_bytes;
  const bool end = framing.framing.kind == BodyFraming::Kind::None;
  if (chunked_) chunks_.reset();
  answer_complete_ = false;
  close_after_ = false;
  in_head_ = false;
  deadline_ = net::kNever;
  state_ = end ? State::Complete : State::Body;
  stream_ = callbacks_.newStream(*this);
  if (stream_) stream_->onRequestHead(head, end);
  if (isOpen() && end) requestComplete();
  return used;
}

size_t ServerConnection::consumeBody(char* data, size_t size) {
  const size_t part = static_cast<size_t>(std::min<uint64_t>(size, body_remaining_));
  body_remaining_ -= part;
  const bool end = body_remaining_ == 0;
  if (end) state_ = State::Complete;
  if (stream_) stream_->onRequestData({data, part}, end);
  if (isOpen() && end) requestComplete();
  return part;
}

size_t ServerConnection::consumeChunks(char* data, size_t size) {
  size_t used = 0;
  while (used < size && isOpen() && state_ == State::Body) {
    const ChunkDecoder::Result step = chunks_.next({data + used, size - used});
    used += step.consumed;
    switch (step.step) {
      case ChunkDecoder::Step::Data:
        if (stream_) stream_->onRequestData(step.data, false);
        break;
      case ChunkDecoder::Step::NeedMore:
        return used;
      case ChunkDecoder::Step::Trailers:
        in_trailers_ = true;
        return used < size ? used + consumeTrailers(data + used, size - used) : used;
      case ChunkDecoder::Step::Error:
        failBody({400, "http1.codec_error"});
        return size;
    }
  }
  return used;
}

size_t ServerConnection::consumeTrailers(char* data, size_t size) {
  http::HeaderMap& trailers = scratch_.headers;
  size_t used = 0;
  trailers.clear();
  const ScanResult scan = scanTrailers(data, size, settings_.limits, &trailers, &used);
  if (scan.state == Scan::Incomplete) return 0;
  if (scan.state == Scan::Error) {
    failBody(scan.error);
    return size;
  }
  state_ = State::Complete;
  if (stream_) {
    if (trailers.size() > 0 && settings_.enable_trailers) {
      stream_->onRequestTrailers(trailers);
    } else {
      stream_->onRequestData({}, true);
    }
  }
  if (isOpen()) requestComplete();
  return used;
}

void ServerConnection::failBody(const ScanError& error) {
  if (stream_) {
    stream_->onRequestBroken(error.status, error.details);
  } else {
    // The answer is out already: nobody waits for more of this body.
    abort();
  }
}

void ServerConnection::onPeerEnd() {
  if (RequestSink* stream = stream_) {
    stream_ = nullptr;
    stream->onRequestReset(ResetReason::ConnectionTermination, "downstream_remote_disconnect");
  }
  closed(true, CloseKind::Fin);
}

// ---- the exchange ----

void ServerConnection::requestComplete() {
  if (answer_complete_) finishExchange();
}

void ServerConnection::answerComplete() {
  answer_complete_ = true;
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
  if (head.status == 101 || head.to_connect) state_ = State::Raw;
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
  linger_delayed_ = linger == Linger::Delayed;
  if (linger_delayed_ && settings_.delayed_close_ms == 0 && pendingBytes() == 0) {
    closed(false, CloseKind::Fin);
    return;
  }
  // Time runs while nothing moves; what is pending moves it on (onDrained).
  const net::Millis patience = std::max<net::Millis>(settings_.delayed_close_ms, 1);
  deadline_ = net::kNever;
  watch(loop().now() + patience);
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
  if (stream_) stream_->onDownstreamWritable();
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
