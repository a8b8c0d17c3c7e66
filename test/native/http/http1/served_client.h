// A connection that serves one client, and what it tells of it as text.
#pragma once

#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "http/http1/server_connection.h"
#include "test/native/http/http1/peer.h"
#include "test/native/test.h"

namespace fairlead::http1 {

using http::HeaderId;
using http::HeaderMap;

// One client and the connection that serves it. What the connection tells is kept as text:
// "GET /path{body}" for a request, "reset", "broken 400 …", "error 400 …", "closed by peer".
class Server final : public http::ServerCodecCallbacks, public http::RequestSink {
 public:
  explicit Server(http::ServerSettings settings = {}, uint32_t buffer_limit_bytes = 1 << 20)
      : settings_(settings), peer(&fd_) {
    socket = new net::Connection(loop, std::move(fd_), buffer_limit_bytes,
                                 net::Connection::Start::Established, test::makeTransportOfTests());
    connection = std::make_unique<ServerConnection>(*socket, settings_, scratch_, *this);
    FL_CHECK(socket->start());
  }
  ~Server() {
    if (!closed) connection->abort();
    loop.turn(0);
  }

  // The client writes, and everything that comes of it happens.
  std::string send(std::string_view bytes) {
    peer.write(bytes);
    std::string all, got;
    do {
      settle(loop);
      got = peer.read();
      all += got;
    } while (!got.empty());
    return all;
  }

  void answer(std::string_view body, bool close = false) {
    const std::string length = std::to_string(body.size());
    http::ResponseOut out = headOf(200);
    out.headers->add(HeaderId::ContentLength, "content-length", length);
    out.close = close;
    sendHead(out, body.empty());
    if (!body.empty()) stream->sendData(body, true);
  }
  // An answer without a body, the connection's last.
  void refuse(uint16_t status) {
    http::ResponseOut out = headOf(status);
    out.close = true;
    sendHead(out, true);
  }
  void sendHead(http::ResponseOut& out, bool end) {
    stream->finishHead(out, end);
    stream->sendHead(out, end);
  }
  http::ResponseOut headOf(uint16_t status) {
    answer_headers_->clear();
    return {.status = status, .headers = answer_headers_.get()};
  }

  // http::ServerCodecCallbacks
  http::RequestSink* newStream(http::ServerStream& server_stream, Opening how) override {
    stream = &server_stream;
    opening = how;
    return this;
  }
  void onHttp2(net::Connection&, std::string_view bytes) override {
    told += "HTTP/2 " + std::to_string(bytes.size()) + ";";
    socket->close();
    closed = true;
  }
  void onProtocolError(http::Breach, std::string_view) override {}
  stats::Shard<stats::Http2Codec>& http2Stats() override { return http2_stats_; }
  void onIdleTimeout() override {
    told += "idle timeout;";
    connection->finish();
  }
  void onDelayedCloseTimeout() override { told += "delayed close timeout;"; }
  void onBytes(uint64_t received, uint64_t sent) override {
    bytes_received = received;
    bytes_sent = sent;
  }
  void onConnectionClosed(bool by_peer) override {
    closed = true;
    told += by_peer ? "closed by peer;" : "closed;";
  }

  // http::RequestSink
  void onRequestHead(http::RequestHead& head, bool end) override {
    told += std::string(head.method) + " " + std::string(head.path);
    if (show_headers) {
      for (const http::HeaderEntry& entry : head.headers) {
        if (entry.name_size > 0)
          told += " " + std::string(entry.name()) + "=" + std::string(entry.value());
      }
    }
    if (on_head) on_head();
    if (end) complete();
  }
  void onRequestData(std::string_view data, bool end) override {
    tellData(data);
    if (end) complete();
  }
  void onRequestTrailers(HeaderMap& trailers) override {
    for (const http::HeaderEntry& entry : trailers) told += "<" + std::string(entry.name()) + ">";
    complete();
  }
  void onRequestReadEnd() override {}
  void onRequestBroken(uint16_t status, std::string_view details) override {
    const bool is_request = opening == Opening::Request;
    told += is_request ? "broken " : "error ";
    told += std::to_string(status) + " " + std::string(details) + ";";
    if (is_request) {
      stream->reset();
    } else {
      refuse(status);
    }
  }
  void onRequestHeadTimeout() override {
    told += "head timeout;";
    refuse(408);
  }
  void onRequestReset(http::ResetReason reason, std::string_view details) override {
    if (opening == Opening::Unfinished) {
      told += reason == http::ResetReason::LocalReset ? "head reset here;" : "head reset;";
    } else {
      told += "reset " + std::string(details) + ";";
    }
  }
  http::ByteMeter& downstreamMeter() override { return meter; }
  void onAnswerComplete() override {}
  void onDownstreamWritable() override {
    ++writable;
    if (on_writable) on_writable();
  }

  net::Loop loop;
  std::string told;
  std::function<void()> on_head;
  std::function<void()> on_complete;
  std::function<void()> on_writable;
  bool show_headers = false;
  bool closed = false;
  int writable = 0;
  size_t bytes_received = 0;
  size_t bytes_sent = 0;
  http::ServerStream* stream = nullptr;
  Opening opening = Opening::Request;
  http::ByteMeter meter;
  net::Connection* socket;
  std::unique_ptr<ServerConnection> connection;

 private:
  // However a body was cut on its way, it is told in one piece.
  void tellData(std::string_view data) {
    if (told.ends_with('}')) {
      told.pop_back();
    } else {
      told += '{';
    }
    told.append(data).append("}");
  }
  void complete() {
    told += ";";
    if (on_complete) on_complete();
  }

  const http::ServerSettings settings_;
  net::FileDescriptor fd_;
  net::OutBatch batch_;
  std::unique_ptr<http::RequestHead> head_ = std::make_unique<http::RequestHead>();
  std::unique_ptr<http::ResponseHead> unused_ = std::make_unique<http::ResponseHead>();
  const http::CodecScratch scratch_{batch_, *head_, *unused_};
  std::unique_ptr<HeaderMap> answer_headers_ = std::make_unique<HeaderMap>();
  stats::Shard<stats::Http2Codec> http2_stats_;

 public:
  Peer peer;
};

inline constexpr const char* kOk = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

inline std::string get(std::string_view path) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nhost: a\r\n\r\n";
}

}  // namespace fairlead::http1
