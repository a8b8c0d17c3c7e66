#include "http/http2/client_stream.h"

#include <utility>

#include "http/http2/client_session.h"

namespace fairlead::http2 {

using http::HeaderEntry;
using http::HeaderId;

namespace {

bool isSent(const HeaderEntry& entry) {
  if (entry.name_size == 0 || isOfConnection(entry.id)) return false;
  switch (entry.id) {
    case HeaderId::Host:
      return false;
    case HeaderId::Te:
      return entry.value() == "trailers";
    default:
      return true;
  }
}

char* writePseudo(HpackEncoder& encoder, const http::RequestOut& head, bool is_tunnel, char* to) {
  using Encoder = HpackEncoder;
  to = encoder.writeStatic(Encoder::kAuthority, head.authority, to);
  if (!is_tunnel) {
    to = head.path == "/" ? encoder.writeIndexed(Encoder::kPathRoot, to)
                          : encoder.writeStatic(Encoder::kPathRoot, head.path, to);
  }
  to = head.method == "GET"    ? encoder.writeIndexed(Encoder::kMethodGet, to)
       : head.method == "POST" ? encoder.writeIndexed(Encoder::kMethodPost, to)
                               : encoder.writeStatic(Encoder::kMethodGet, head.method, to);
  if (!is_tunnel) {
    to = head.scheme == "http"    ? encoder.writeIndexed(Encoder::kSchemeHttp, to)
         : head.scheme == "https" ? encoder.writeIndexed(Encoder::kSchemeHttps, to)
                                  : encoder.writeStatic(Encoder::kSchemeHttp, head.scheme, to);
  }
  if (!head.protocol.empty()) {
    to = encoder.write({HeaderId::Other, ":protocol", head.protocol}, to);
  }
  return to;
}

// Names and values of what writePseudo() writes.
uint32_t pseudoBytesOf(const http::RequestOut& head, bool is_tunnel) {
  const auto line = [](std::string_view name, std::string_view value) {
    return static_cast<uint32_t>(name.size() + value.size());
  };
  uint32_t bytes = line(":authority", head.authority) + line(":method", head.method);
  if (!is_tunnel) bytes += line(":path", head.path) + line(":scheme", head.scheme);
  if (!head.protocol.empty()) bytes += line(":protocol", head.protocol);
  return bytes;
}

size_t mostBytesOf(const http::RequestOut& head) {
  constexpr size_t kPseudoNames = 64;
  size_t most = HpackEncoder::mostBytes(kPseudoNames, head.authority.size()) +
                HpackEncoder::mostBytes(0, head.path.size()) +
                HpackEncoder::mostBytes(0, head.method.size()) +
                HpackEncoder::mostBytes(0, head.scheme.size()) +
                HpackEncoder::mostBytes(0, head.protocol.size());
  for (const HeaderEntry& entry : *head.headers) {
    most += HpackEncoder::mostBytes(entry.name_size, entry.value_size);
  }
  return most;
}

}  // namespace

void ClientStream::begin(ClientSession& session, http::ResponseSink& sink) {
  client_ = &session;
  sink_ = &sink;
  meter_ = &sink.upstreamMeter();
}

void ClientStream::clear() {
  clearBase();
  ListNode<ClientStream>::unlink();
  client_ = nullptr;
  leaveSink();
  method_ = Method::Other;
  outlasts_answer_ = false;
}

// ---- the request ----

void ClientStream::sendHead(const http::RequestOut& head, bool end) {
  method_ = head.method == "HEAD"      ? Method::Head
            : head.method == "CONNECT" ? Method::Connect
                                       : Method::Other;
  outlasts_answer_ = head.outlasts_answer;
  ClientSession& session = *client_;
  session.opened(*this);
  HpackEncoder& encoder = session.encoder();
  char* const begin = session.beginBlock(mostBytesOf(head));
  char* to = encoder.begin(begin);
  const bool is_tunnel = method_ == Method::Connect && head.protocol.empty();
  to = writePseudo(encoder, head, is_tunnel, to);
  uint32_t plain_bytes = pseudoBytesOf(head, is_tunnel);
  for (const HeaderEntry& entry : *head.headers) {
    if (!isSent(entry)) continue;
    to = encoder.write({entry.id, entry.name(), entry.value()}, to);
    plain_bytes += static_cast<uint32_t>(entry.name_size + entry.value_size);
  }
  http::ByteMeter& meter = *meter_;
  const size_t bytes = session.writeBlock(*this, begin, to, end);
  meter.wire_sent += bytes;
  meter.header_sent += static_cast<uint32_t>(bytes);
  meter.plain_sent += plain_bytes;
}

void ClientStream::sendData(std::string_view data, bool end) {
  if (data.empty() && !end) return;
  // Its answer has ended already. Who asked for both is told before the stream goes.
  if (end && sink_ && Session::hasRemoteEnded(*this)) client_->bothEnded(*this, *sink_);
  session_->sendData(*this, data, end);
}

void ClientStream::sendTrailers(http::HeaderMap* trailers) {
  if (!trailers || trailers->size() == 0) {
    session_->sendData(*this, {}, true);
  } else {
    session_->sendTrailers(*this, *trailers);
  }
}

// What is queued leaves at the end of the turn, with that of other streams.
void ClientStream::flush() {
  if (session_) session_->sendGathered();
}

void ClientStream::reset() { client_->abandon(*this); }

bool ClientStream::isOverHighWatermark() const {
  if (!session_) return false;
  session_->noteWatermark(*const_cast<ClientStream*>(this));
  return session_->isOverHighWatermark(*this);
}

void ClientStream::pauseReading() {
  if (session_) session_->pauseReading(*this);
}

void ClientStream::resumeReading() {
  if (session_) session_->resumeReading(*this);
}

// ---- the answer ----

void ClientStream::onData(std::string_view data, bool end) {
  if (!sink_) return;
  http::ResponseSink& sink = *sink_;
  if (!end) {
    sink.onResponseData(data, false);
    return;
  }
  ClientSession& session = *client_;
  session.complete(*this, sink);
  sink.onResponseData(data, true);
  session.serveWaiting();
}

void ClientStream::onReset(http::ResetReason reason, std::string_view details) {
  if (!sink_) return;
  http::ResponseSink& sink = *sink_;
  leaveSink();
  client_->lost(*this, sink, reason, details);
}

void ClientStream::onWritable() {
  if (sink_) sink_->onUpstreamWritable();
}

void ClientStream::onReadEnd() {
  if (sink_) sink_->onResponseReadEnd();
}

}  // namespace fairlead::http2
