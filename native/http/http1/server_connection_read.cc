// ServerConnection's way in: bytes to requests. Its exchange, writing and end:
// server_connection.cc.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "http/http1/server_connection.h"
#include "http/target.h"
#include "http/upgrade.h"

namespace fairlead::http1 {

using http::HeaderId;
using http::RequestSink;
using http::ResetReason;
using ReadResult = net::Connection::ReadResult;

namespace {

// What a client of HTTP/2 begins with (RFC 9113, 3.4), as far as the real server looks; no request
// can.
constexpr std::string_view kHttp2Preface = "PRI * HTTP/2";

bool beginsHttp2(std::string_view bytes) {
  const size_t common = std::min(bytes.size(), kHttp2Preface.size());
  return bytes.substr(0, common) == kHttp2Preface.substr(0, common);
}

}  // namespace

void ServerConnection::onReadable() {
  while (isOpen() && !connection_.isReadingPaused()) {
    if (state_ == State::Complete) {
      // A client that leaves while it is being answered; pipelined bytes wait where they are.
      if (connection_.hasPeerEnded()) onPeerEnd();
      return;
    }
    if (mustWaitForClient()) return;
    if (leftover_ && scanned_bytes_ == 0) {
      // What came along with the request before is this one's.
      if (state_ == State::Head) countReceived(leftover_->size());
      if (scratch_.overload.isActive() && isShed(*leftover_)) return;
      consumeLeftover();
      continue;
    }
    if (!connection_.isReadable()) return;
    const net::Connection::Read got = connection_.read();
    if (got.result == ReadResult::Nothing) return;
    if (got.result != ReadResult::Data) {
      onPeerEnd();
      return;
    }
    if (state_ == State::Lingering) {
      // Thrown away, and not counted.
      connection_.uncountRead(got.size);
      continue;
    }
    countReceived(got.size);
    if (scratch_.overload.isActive() && isShed({got.data, got.size})) return;
    if (!leftover_) {
      consume(got.data, got.size, nullptr);
      continue;
    }
    const size_t before = leftover_->size();
    leftover_->append(got.data, got.size);
    if (isWorthScanning(before)) consumeLeftover();
  }
}

// Whether `bytes` are, and nobody is to look at them.
bool ServerConnection::isShed(std::string_view bytes) {
  if (mayBecomeHttp2() && beginsHttp2(bytes)) return false;
  using Dispatch = http::ServerCodecCallbacks::Dispatch;
  switch (callbacks_.onDispatch()) {
    case Dispatch::Go:
      break;
    case Dispatch::GoAway:
      resetStream(ResetReason::LocalReset, "forced_goaway");
      [[fallthrough]];
    case Dispatch::Drop:
      finish(Linger::Delayed);
      return true;
  }
  if (!isOpen() || !callbacks_.shedsDispatch()) return !isOpen();
  if (!stream_) {
    in_head_ = false;
    close_requested_ = keep_alive_asked_ = http_10_ = head_request_ = connect_request_ = false;
    // Which nobody has looked at.
    unclaimed_bytes_ = 0;
    openStream(Opening::Unfinished);
  }
  leftover_.reset();
  stream_->onRequestShed();
  return true;
}

// A client that sends requests and takes no answers gets no more of them.
bool ServerConnection::mustWaitForClient() const {
  return state_ == State::Head && connection_.isOverHighWatermark();
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
  const char* const begin = data;
  while (size > 0 && isOpen() && !mustWaitForClient()) {
    size_t used = 0;
    switch (state_) {
      case State::Head:
        // What came along with a request that was answered at once is the next one's.
        if (data != begin) countReceived(size);
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

// Scanning makes them lower case, line by line: those of a head that comes in parts are known from
// when they came.
void ServerConnection::collectNames(std::string_view bytes) {
  std::unique_ptr<http::KeptNames>& names = touchRare().names;
  if (!in_head_ || !names) {
    names = std::make_unique<http::KeptNames>(settings_.preserve_case->capitalizes_own);
  }
  names->collect(bytes);
}

size_t ServerConnection::consumeHead(char* data, size_t size) {
  http::RequestHead& head = scratch_.request;
  head.names = nullptr;
  if (settings_.preserve_case) {
    collectNames({data, size});
    head.names = rare_->names.get();
  }
  const ScanResult scan = scanRequest(data, size, settings_.limits, &head);
  if (scan.state == Scan::Incomplete) return waitForHead(data, size);
  // Where every method is taken, it reads as a request.
  const bool may_be_none = scan.state == Scan::Error || settings_.limits.takes_any_method;
  if (may_be_none && mayBecomeHttp2() && beginsHttp2({data, size})) {
    if (size < kHttp2Preface.size()) return waitForHead(data, size);
    leaveToHttp2({data, size});
    return size;
  }
  in_head_ = false;
  if (scan.state == Scan::Error) {
    refuse(scan.error, head.header_bytes);
    return size;
  }
  const FramingResult framing =
      requestFraming(head, {settings_.allow_chunked_length, settings_.accept_http_10});
  if (!framing.ok) {
    refuse(framing.error, framing.is_unread ? 0 : head.header_bytes);
    return size;
  }
  http::Target target;
  const std::string_view details =
      http::parseTarget(head.method, head.target, &target, !settings_.refuses_absolute_urls);
  if (!details.empty()) {
    // What is no URL at all is found before headers are read.
    refuse({400, details}, details == kCodecError.details ? 0 : head.header_bytes);
    return size;
  }
  head.scheme = target.form == http::Target::Form::Absolute ? target.scheme : std::string_view();
  if (settings_.refuses_clear_https && equalsIgnoreCase(head.scheme, "https") &&
      !connection_.tls()) {
    refuse({403, "http1.https_url_on_plaintext_connection"}, head.header_bytes);
    return size;
  }
  if (head.version == http::Version::Http10 && !settings_.accept_http_10) {
    refuse({426, "low_version"}, head.header_bytes);
    return size;
  }
  if (const std::string_view fault = http::takeAuthority(target, head); !fault.empty()) {
    refuse({400, fault}, head.header_bytes);
    return size;
  }
  const uint32_t used = head.head_bytes;
  beginRequest(head, framing.framing);
  return used;
}

void ServerConnection::beginRequest(http::RequestHead& head, const BodyFraming& framing) {
  chunked_ = framing.kind == BodyFraming::Kind::Chunked;
  in_trailers_ = false;
  body_remaining_ = framing.length_bytes;
  if (chunked_) chunks_.reset();
  close_after_ = false;
  had_request_ = true;
  deadline_ = net::kNever;
  head.protocol = {};
  noteConnectionHeaders(head);
  const bool tunnels = connect_request_ || head.upgrades;
  const bool end = framing.kind == BodyFraming::Kind::None && !tunnels;
  state_ = tunnels ? State::Raw : end ? State::Complete : State::Body;
  openStream(Opening::Request);
  meter_->header_received += head.header_bytes;
  meter_->plain_received += head.header_bytes;
  stream_->onRequestHead(head, end);
}

void ServerConnection::noteConnectionHeaders(http::RequestHead& head) {
  http_10_ = close_requested_ = head.version == http::Version::Http10;
  keep_alive_asked_ = false;
  head_request_ = head.method == "HEAD";
  connect_request_ = head.method == "CONNECT";
  head.upgrades = false;
  if (!head.headers.mayHave(http::kConnectionHeaders)) return;
  for (const http::HeaderEntry& entry : head.headers) {
    if (entry.id == HeaderId::Upgrade) {
      if (http::isHttp2Upgrade(entry)) head.headers.remove(HeaderId::Http2Settings);
      head.upgrades = http::findUpgrade(head.headers) && !http::isHttp2Upgrade(entry) &&
                      !isUpgradeIgnored(entry.value());
    }
    if (entry.id != HeaderId::Connection && entry.id != HeaderId::ProxyConnection) continue;
    if (containsToken(entry.value(), "close")) {
      close_requested_ = true;
    } else if (http_10_ && containsToken(entry.value(), "keep-alive")) {
      keep_alive_asked_ = true;
      close_requested_ = false;
    }
  }
}

bool ServerConnection::isUpgradeIgnored(std::string_view protocol) const {
  const auto* const ignored = settings_.ignored_upgrades;
  return ignored && std::any_of(ignored->begin(), ignored->end(),
                                [protocol](const auto& one) { return one.matches(protocol); });
}

// Before its first request, unless something else was agreed on with TLS.
bool ServerConnection::mayBecomeHttp2() const {
  if (!settings_.detects_http2 || had_request_) return false;
  const net::SharedTlsInfo tls = connection_.tls();
  return !tls || tls->protocol().empty();
}

void ServerConnection::leaveToHttp2(std::string_view bytes) {
  state_ = State::Closed;
  Timer::disarm();
  callbacks_.onHttp2(connection_, bytes);
}

// Empty lines before a head are dropped, but begin it; for the rest of it more must come.
size_t ServerConnection::waitForHead(const char* data, size_t size) {
  if (!in_head_) {
    in_head_ = true;
    deadline_ = net::kNever;
    if (settings_.head_timeout_ms > 0) {
      watch(connection_.loop().now() + settings_.head_timeout_ms);
    }
  }
  const size_t dropped = emptyLineBytes(data, size);
  if (dropped == 0) scanned_bytes_ = static_cast<uint32_t>(size);
  return dropped;
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
        breakRequest(codecError(ScanError::Fault::Chunk));
        return size;
    }
  }
  return used;
}

size_t ServerConnection::consumeTrailers(char* data, size_t size) {
  http::HeaderMap* const trailers = settings_.enable_trailers ? &scratch_.request.headers : nullptr;
  size_t used = 0;
  const ScanResult scan = scanTrailers(data, size, settings_.limits, trailers, &used);
  if (scan.state == Scan::Incomplete) {
    scanned_bytes_ = static_cast<uint32_t>(size);
    return 0;
  }
  if (scan.state == Scan::Error) {
    breakRequest(scan.error);
    return size;
  }
  state_ = State::Complete;
  if (trailers && trailers->size() > 0) {
    meter_->header_received += headerBytes(*trailers);
    stream_->onRequestTrailers(*trailers);
  } else {
    stream_->onRequestData({}, true);
  }
  return used;
}

void ServerConnection::onPeerEnd() {
  countBytes();
  resetStream(ResetReason::ConnectionTermination, "downstream_remote_disconnect");
  closed(true);
}

// Whoever has been told of a request, or would be with the rest of its head.
void ServerConnection::resetStream(ResetReason reason, std::string_view details) {
  if (!stream_ && leaveHead()) openStream(Opening::Unfinished);
  meter_ = nullptr;
  if (RequestSink* stream = std::exchange(stream_, nullptr)) {
    stream->onRequestReset(reason, details);
  }
}

// Bytes of a head come before its stream.
void ServerConnection::countReceived(size_t bytes) {
  if (meter_) {
    meter_->wire_received += bytes;
  } else {
    unclaimed_bytes_ += static_cast<uint32_t>(bytes);
  }
}

}  // namespace fairlead::http1
