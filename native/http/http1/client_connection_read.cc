// ClientConnection's way in: bytes to answers. Its exchange, writing and end: client_connection.cc.
#include <algorithm>

#include "base/prefetch.h"
#include "base/text.h"
#include "http/http1/client_connection.h"
#include "http/upgrade.h"

namespace fairlead::http1 {

using http::HeaderId;
using http::ResetReason;
using http::ResponseSink;
using ReadResult = net::Connection::ReadResult;

namespace {
// What lies around a sink is mostly its owner's, and says what else an answer will touch.
constexpr size_t kBeforeSink = 128;
constexpr size_t kAroundSink = 256;
}  // namespace

void ClientConnection::onReadable() {
  while (isOpen() && connection_.isReadable() && !connection_.isReadingPaused()) {
    if (taken_raw_ && sink_) {
      sink_->onRawReadable();
      return;
    }
    if (sink_) sink_->prefetch(ResponseSink::Ahead::Read);
    const net::Connection::Read got = connection_.read();
    if (got.result == ReadResult::Nothing) return;
    if (got.result != ReadResult::Data) {
      onPeerEnd();
      return;
    }
    if (sink_) sink_->prefetch(ResponseSink::Ahead::Parsed);
    if (meter_) meter_->wire_received += got.size;
    if (!leftover_) {
      consume(got.data, got.size);
      continue;
    }
    const size_t before = leftover_->size();
    leftover_->append(got.data, got.size);
    if (!isWorthScanning(before)) continue;
    const std::unique_ptr<std::string> bytes = std::move(leftover_);
    consume(bytes->data(), bytes->size());
  }
}

void ClientConnection::prefetch() const {
  if (sink_) fairlead::prefetch(reinterpret_cast<const char*>(sink_) - kBeforeSink, kAroundSink);
}

// What waits is always a part of a head, or of trailers, that was scanned once. It is looked at
// again when it may be whole, too large, or twice as long: all looks together stay linear.
bool ClientConnection::isWorthScanning(size_t bytes_before) const {
  const size_t size = leftover_->size();
  return size > settings_.limits.max_head_bytes || size >= 2 * scanned_bytes_ ||
         mayEndHead(leftover_->data(), size, bytes_before);
}

void ClientConnection::consume(char* data, size_t size) {
  countBytes();
  while (size > 0 && isOpen()) {
    size_t used = 0;
    switch (state_) {
      case State::Head:
        used = consumeHead(data, size);
        break;
      case State::Body:
        used = in_trailers_ ? consumeTrailers(data, size) : consumeBody(data, size);
        break;
      case State::Raw:
        sink_->onResponseData({data, size}, false);
        used = size;
        break;
      case State::Idle:
      case State::Connecting:
        // Bytes that nobody asked for: whose they are cannot be known.
        abort(CloseReason::ProtocolError);
        return;
      case State::Closed:
        return;
    }
    // The answer is complete, and the buffer may hold another connection's bytes by now.
    if (!sink_) return;
    data += used;
    size -= used;
    if (used == 0) {
      leftover_ = std::make_unique<std::string>(data, size);
      scanned_bytes_ = static_cast<uint32_t>(size);
      break;
    }
  }
  if (sink_) sink_->onResponseReadEnd();
}

void ClientConnection::collectNames(std::string_view bytes) {
  if (!in_names_) {
    names_ = std::make_unique<http::KeptNames>(settings_.preserve_case->capitalizes_own);
  }
  in_names_ = true;
  names_->collect(bytes);
}

void ClientConnection::finishNames(const http::ResponseHead& head) {
  in_names_ = false;
  if (settings_.preserve_case->forwards_reason) names_->reason = head.reason;
}

// As the real server, which adds what it has come to with each head: of interim answers and of
// tries before, too.
void ClientConnection::countHead(const http::ResponseHead& head) {
  if (!meter_) return;
  meter_->header_received += head.header_bytes;
  meter_->plain_received += meter_->header_received;
}

size_t ClientConnection::consumeHead(char* data, size_t size) {
  http::ResponseHead& head = scratch_;
  if (settings_.preserve_case) collectNames({data, size});
  head.names = names_.get();
  const ScanResult scan = scanResponse(data, size, settings_.limits, &head);
  if (scan.state == Scan::Incomplete) return 0;
  if (scan.state == Scan::Error) {
    countHead(head);
    protocolError();
    return size;
  }
  if (names_) finishNames(head);
  const FramingResult framing = responseFraming(head, method_, {settings_.allow_chunked_length});
  if (!framing.is_unread) countHead(head);
  if (!framing.ok) {
    protocolError();
    return size;
  }
  const uint32_t used = head.head_bytes;
  if (head.status < 200 && head.status != 101) {
    sink_->onInformational(head);
    return used;
  }
  noteConnectionHeaders(head);
  framing_ = framing.framing.kind;
  body_remaining_ = framing.framing.length_bytes;
  in_trailers_ = false;
  if (framing_ == BodyFraming::Kind::Chunked) chunks_.reset();
  if (framing_ == BodyFraming::Kind::UntilClose) keep_alive_ = false;
  if (opensTunnel(head)) {
    state_ = State::Raw;
    keep_alive_ = false;
    sink_->onResponseHead(head, false);
    return used;
  }
  if (framing_ == BodyFraming::Kind::None) {
    // What follows an answer that is over was never asked for.
    if (size > used) excess_ = true;
    ResponseSink* sink = sink_;
    answerComplete();
    sink->onResponseHead(head, true);
    callbacks_.serveWaiting();
    return size;
  }
  state_ = State::Body;
  sink_->onResponseHead(head, false);
  return used;
}

bool ClientConnection::opensTunnel(const http::ResponseHead& head) const {
  if (method_ == AnsweredMethod::Connect) return head.status / 100 == 2;
  return method_ == AnsweredMethod::Upgrade && head.status == 101 &&
         http::findUpgrade(head.headers);
}

void ClientConnection::noteConnectionHeaders(const http::ResponseHead& head) {
  // Another protocol that nobody asked for: what follows cannot be understood.
  keep_alive_ = head.version == http::Version::Http11 && head.status != 101;
  close_notified_ = head.version == http::Version::Http10;
  if (!head.headers.mayHave(http::kConnectionHeaders)) return;
  for (const http::HeaderEntry& entry : head.headers) {
    if (entry.id != HeaderId::Connection && entry.id != HeaderId::ProxyConnection) continue;
    // Most say no more than what HTTP/1.1 means anyway.
    if (entry.value() == "keep-alive" && head.version == http::Version::Http11) continue;
    if (containsToken(entry.value(), "close")) {
      keep_alive_ = false;
      close_notified_ = true;
    }
    if (head.version == http::Version::Http10 && containsToken(entry.value(), "keep-alive")) {
      keep_alive_ = true;
      close_notified_ = false;
    }
  }
  // Its framing is not to be trusted (RFC 9112 §6.1).
  if (head.version == http::Version::Http10 && head.headers.find(HeaderId::TransferEncoding)) {
    keep_alive_ = false;
  }
}

size_t ClientConnection::consumeBody(char* data, size_t size) {
  if (framing_ == BodyFraming::Kind::Chunked) return consumeChunks(data, size);
  if (framing_ == BodyFraming::Kind::UntilClose) {
    sink_->onResponseData({data, size}, false);
    return size;
  }
  const size_t part = static_cast<size_t>(std::min<uint64_t>(size, body_remaining_));
  body_remaining_ -= part;
  if (body_remaining_ > 0) {
    sink_->onResponseData({data, part}, false);
    return part;
  }
  if (size > part) excess_ = true;
  ResponseSink* sink = sink_;
  answerComplete();
  sink->onResponseData({data, part}, true);
  callbacks_.serveWaiting();
  return size;
}

size_t ClientConnection::consumeChunks(char* data, size_t size) {
  size_t used = 0;
  while (used < size && isOpen() && sink_) {
    const ChunkDecoder::Result step = chunks_.next({data + used, size - used});
    used += step.consumed;
    switch (step.step) {
      case ChunkDecoder::Step::Data:
        sink_->onResponseData(step.data, false);
        break;
      case ChunkDecoder::Step::NeedMore:
        return used;
      case ChunkDecoder::Step::Trailers:
        in_trailers_ = true;
        return used < size ? used + consumeTrailers(data + used, size - used) : used;
      case ChunkDecoder::Step::Error:
        protocolError();
        return size;
    }
  }
  return used;
}

size_t ClientConnection::consumeTrailers(char* data, size_t size) {
  http::HeaderMap* const trailers = settings_.enable_trailers ? &scratch_.headers : nullptr;
  size_t used = 0;
  const ScanResult scan = scanTrailers(data, size, settings_.limits, trailers, &used);
  if (scan.state == Scan::Incomplete) return 0;
  if (scan.state == Scan::Error) {
    protocolError();
    return size;
  }
  if (size > used) excess_ = true;
  if (trailers) meter_->header_received += headerBytes(*trailers);
  ResponseSink* sink = sink_;
  answerComplete();
  if (trailers && trailers->size() > 0) {
    sink->onResponseTrailers(*trailers);
  } else {
    sink->onResponseData({}, true);
  }
  callbacks_.serveWaiting();
  return size;
}

}  // namespace fairlead::http1
