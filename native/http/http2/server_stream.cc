#include "http/http2/server_stream.h"

#include <utility>

#include "http/http2/server_session.h"

namespace fairlead::http2 {

using http::HeaderEntry;
using http::HeaderMap;

namespace {

// ":status" and its value.
constexpr uint32_t kStatusBytes = 10;

// Its number in the static table; 0: it has none.
uint32_t indexOfStatus(uint16_t status) {
  switch (status) {
    case 200:
      return HpackEncoder::kStatus200;
    case 204:
      return HpackEncoder::kStatus200 + 1;
    case 206:
      return HpackEncoder::kStatus200 + 2;
    case 304:
      return HpackEncoder::kStatus200 + 3;
    case 400:
      return HpackEncoder::kStatus200 + 4;
    case 404:
      return HpackEncoder::kStatus200 + 5;
    case 500:
      return HpackEncoder::kStatus200 + 6;
    default:
      return 0;
  }
}

}  // namespace

ServerSession& ServerStream::session() const { return static_cast<ServerSession&>(*session_); }

void ServerStream::clear() {
  clearBase();
  sink_ = waiting_ = nullptr;
  meter_ = nullptr;
  has_lost_host_ = false;
}

// ---- the request ----

void ServerStream::onData(std::string_view data, bool end) {
  if (sink_) sink_->onRequestData(data, end);
}

void ServerStream::onReadEnd() {
  if (sink_) sink_->onRequestReadEnd();
}

void ServerStream::onWritable() {
  if (sink_) sink_->onDownstreamWritable();
}

void ServerStream::onReset(http::ResetReason reason, std::string_view details) {
  meter_ = nullptr;
  http::RequestSink* const waiting = std::exchange(waiting_, nullptr);
  http::RequestSink* const sink = std::exchange(sink_, nullptr);
  if (sink || waiting) (sink ? sink : waiting)->onRequestReset(reason, details);
}

void ServerStream::pauseReading() { session().pauseReading(*this); }
void ServerStream::resumeReading() { session().resumeReading(*this); }

// ---- its answer ----

size_t ServerStream::writeHead(uint16_t status, const HeaderMap* headers, bool end) {
  ServerSession& session = this->session();
  HpackEncoder& encoder = session.encoder();
  size_t most = HpackEncoder::mostBytes(7, 3);
  if (headers) {
    for (const HeaderEntry& entry : *headers) {
      most += HpackEncoder::mostBytes(entry.name_size, entry.value_size);
    }
  }
  char* const begin = session.beginBlock(most);
  char* to = encoder.begin(begin);
  uint32_t plain_bytes = kStatusBytes;
  if (const uint32_t index = indexOfStatus(status)) {
    to = encoder.writeIndexed(index, to);
  } else {
    const char text[3] = {static_cast<char>('0' + status / 100 % 10),
                          static_cast<char>('0' + status / 10 % 10),
                          static_cast<char>('0' + status % 10)};
    to = encoder.writeStatic(HpackEncoder::kStatus200, {text, sizeof(text)}, to);
  }
  if (headers) {
    for (const HeaderEntry& entry : *headers) {
      if (entry.name_size == 0 || isOfConnection(entry.id)) continue;
      // It has no body whose length could be told (RFC 9110, 8.6).
      if (status == 204 && entry.id == HeaderId::ContentLength) continue;
      to = encoder.write({entry.id, entry.name(), entry.value()}, to);
      plain_bytes += static_cast<uint32_t>(entry.name_size + entry.value_size);
    }
  }
  http::ByteMeter* const meter = meter_;
  const size_t written = session.writeBlock(*this, begin, to, end);
  if (meter) {
    meter->wire_sent += written;
    meter->header_sent += static_cast<uint32_t>(written);
    meter->plain_sent += plain_bytes;
  }
  return written;
}

void ServerStream::sendInformational(uint16_t status, HeaderMap* headers) {
  writeHead(status, headers, false);
}

http::RequestSink* ServerStream::leave() {
  ServerSession& session = this->session();
  session.leave(*this, session.flushTimeoutOf(*this));
  // What is still to come of the request is not wanted.
  if (!Session::hasRemoteEnded(*this)) {
    session.resetAfterEnd(*this, has_lost_host_ ? ErrorCode::ConnectError : ErrorCode::NoError);
  }
  return std::exchange(sink_, nullptr);
}

// As the real server: what is counted and logged of a whole exchange is so once all of it is sent.
// A request that is not whole is over with its answer.
void ServerStream::tellEnd(http::RequestSink& sink) {
  if (isOpen() && Session::isEndPending(*this) && Session::hasRemoteEnded(*this)) {
    waiting_ = &sink;
    sink.onAnswerComposed();
    return;
  }
  // As the real server, which sends nothing before it has done with what it read, and has logged
  // by then what was answered as its head came.
  if (meter_ && session().isTellingHeadOf(*this) && !Session::hasRemoteEnded(*this)) {
    meter_->wire_sent = meter_->header_sent = meter_->plain_sent = 0;
  }
  // What is still to come, or to be sent, is nobody's: the account is soon another request's.
  meter_ = nullptr;
  sink.onAnswerComplete();
}

void ServerStream::sendHead(const http::ResponseOut& head, bool end) {
  http::RequestSink* const sink = end ? leave() : nullptr;
  writeHead(head.status, head.headers, end);
  if (sink) tellEnd(*sink);
}

void ServerStream::sendData(std::string_view data, bool end) {
  http::RequestSink* const sink = end ? leave() : nullptr;
  session().sendData(*this, data, end);
  if (sink) tellEnd(*sink);
}

void ServerStream::sendTrailers(HeaderMap* trailers) {
  if (!trailers || trailers->size() == 0) {
    sendData({}, true);
    return;
  }
  http::RequestSink* const sink = leave();
  session().sendTrailers(*this, *trailers);
  if (sink) tellEnd(*sink);
}

void ServerStream::failTunnel() { has_lost_host_ = true; }

void ServerStream::setFlushTimeout(net::Millis ms) { session().setFlushTimeout(*this, ms); }

void ServerStream::flush() {
  session().sendGathered();
  session().noteWatermark(*this);
}

void ServerStream::reset() {
  sink_ = nullptr;
  meter_ = nullptr;
  session().reset(*this, has_lost_host_ ? ErrorCode::ConnectError : ErrorCode::InternalError);
}

bool ServerStream::isOverHighWatermark() const { return session().isOverHighWatermark(*this); }

}  // namespace fairlead::http2
