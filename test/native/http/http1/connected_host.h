// A connection to one host, and what it tells of it as text.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "http/http1/client_connection.h"
#include "test/native/http/http1/peer.h"
#include "test/native/test.h"

namespace fairlead::http1 {

using http::HeaderId;
using http::HeaderMap;

// One host and the connection to it. What is told is kept as text: "200{body};" for an answer,
// "done;reusable;" and "closed …;" for the connection.
class Client final : public http::ClientCodecCallbacks, public http::ResponseSink {
 public:
  explicit Client(http::ClientSettings settings = {}, uint32_t buffer_limit_bytes = 1 << 20)
      : settings_(settings), peer(&fd_) {
    auto* socket =
        new net::Connection(loop, std::move(fd_), buffer_limit_bytes,
                            net::Connection::Start::Connecting, test::makeTransportOfTests());
    connection = std::make_unique<ClientConnection>(*socket, settings_, batch_, *head_, *this);
    FL_CHECK(socket->start());
    settle(loop);
  }
  ~Client() {
    if (!over) connection->abort(CloseReason::Local);
    loop.turn(0);
  }

  // A request without a body, on the connection that is idle.
  std::string get(std::string_view path = "/", std::string_view method = "GET") {
    stream = &connection->newStream(*this);
    request_headers_->clear();
    stream->sendHead(
        {.method = method, .path = path, .authority = "a.test", .headers = request_headers_.get()},
        true);
    settle(loop);
    return peer.read();
  }
  void post(bool with_length) {
    stream = &connection->newStream(*this);
    request_headers_->clear();
    if (with_length) request_headers_->add(HeaderId::ContentLength, "content-length", "4");
    stream->sendHead(
        {.method = "POST", .path = "/", .authority = "a.test", .headers = request_headers_.get()},
        false);
  }
  // The host writes, and everything that comes of it happens.
  void answer(std::string_view bytes) {
    peer.write(bytes);
    settle(loop);
  }
  std::string takeTold() {
    body_at_ = std::string::npos;
    return std::exchange(told, {});
  }

  // http::ClientCodecCallbacks
  void onConnected() override { told += "connected;"; }
  void onConnectFailed(Failure failure, int) override {
    over = true;
    told += failure == Failure::Timeout ? "connect timeout;" : "connect refused;";
  }
  void onStreamEnded(http::ResponseSink&, StreamEnd) override { told += "done;"; }
  void onRoom() override { told += "reusable;"; }
  void onGoaway() override {}
  void onClosed(CloseReason reason, bool lost_streams) override {
    constexpr const char* kNames[] = {"peer",        "inside",         "local",    "close notified",
                                      "as notified", "local notified", "requests", "idle",
                                      "duration",    "served",         "protocol", "unsent"};
    over = true;
    told += std::string("closed ") + kNames[static_cast<int>(reason)] +
            (lost_streams ? " with stream;" : ";");
  }
  void serveWaiting() override {
    if (on_serve_waiting) std::exchange(on_serve_waiting, nullptr)();
  }
  void onBytes(size_t received, size_t sent) override {
    bytes_received += received;
    bytes_sent += sent;
  }

  // http::ResponseSink
  void onInformational(http::ResponseHead& head) override {
    told += "(" + std::to_string(head.status) + ")";
  }
  void onResponseHead(http::ResponseHead& head, bool end) override {
    told += std::to_string(head.status) + (end ? ";" : "");
    body_at_ = std::string::npos;
    if (on_head) on_head();
  }
  void onResponseData(std::string_view data, bool end) override {
    if (data.size() > 64) {
      body_bytes += data.size();
    } else {
      tellData(data);
    }
    if (end) told += ";";
  }
  void onResponseTrailers(HeaderMap& trailers) override {
    for (const http::HeaderEntry& entry : trailers) told += "<" + std::string(entry.name()) + ">";
    told += ";";
  }
  void onResponseReadEnd() override {}
  void onResponseReset(http::ResetReason reason, std::string_view details) override {
    told += (reason == http::ResetReason::ProtocolError ? "reset by error " : "reset ") +
            std::string(details) + ";";
  }
  void onUpstreamWritable() override { ++writable; }
  void onRawReadable() override {}
  http::ByteMeter& upstreamMeter() override { return bytes; }

  net::Loop loop;
  std::string told;
  std::function<void()> on_head;
  std::function<void()> on_serve_waiting;
  bool over = false;
  int writable = 0;
  size_t body_bytes = 0;
  size_t bytes_received = 0;
  size_t bytes_sent = 0;
  http::ByteMeter bytes;
  http::ClientStream* stream = nullptr;
  std::unique_ptr<ClientConnection> connection;

 private:
  // However a body was cut on its way, it is told in one piece, where its last part came.
  void tellData(std::string_view data) {
    std::string body = "{";
    if (body_at_ != std::string::npos) {
      const size_t end = told.find('}', body_at_);
      body = told.substr(body_at_, end - body_at_);
      told.erase(body_at_, end + 1 - body_at_);
    }
    body_at_ = told.size();
    told.append(body).append(data).append("}");
  }

  // Where the body of the answer begins that is being told.
  size_t body_at_ = std::string::npos;
  const http::ClientSettings settings_;
  net::FileDescriptor fd_;
  net::OutBatch batch_;
  std::unique_ptr<http::ResponseHead> head_ = std::make_unique<http::ResponseHead>();
  std::unique_ptr<HeaderMap> request_headers_ = std::make_unique<HeaderMap>();

 public:
  Peer peer;
};

}  // namespace fairlead::http1
