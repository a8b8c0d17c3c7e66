// A session that serves one client, whose frames are written as text.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "http/http2/server_session.h"
#include "http/http2/stream_pool.h"
#include "test/native/http/http1/peer.h"
#include "test/native/http/http2/wire.h"
#include "test/native/test.h"

namespace fairlead::http2 {

using http::HeaderId;
using http::HeaderMap;
using http1::pass;
using http1::settle;

class H2Server;

// One request as the proxy would have it: what it is told is kept as text.
class Request final : public http::RequestSink {
 public:
  Request(H2Server& of, http::ServerStream& to) : server(of), stream(&to) {}

  void onRequestHead(http::RequestHead& head, bool end) override;
  void onRequestData(std::string_view data, bool end) override;
  void onRequestTrailers(HeaderMap& trailers) override;
  void onRequestReadEnd() override { ++read_ends; }
  void onRequestBroken(uint16_t, std::string_view) override {}
  void onRequestHeadTimeout() override {}
  void onRequestReset(http::ResetReason reason, std::string_view details) override;
  void onDownstreamWritable() override { ++writable; }
  void onAnswerComposed() override {
    ends += "composed;";
    stream = nullptr;
  }
  void onAnswerComplete() override {
    ends += "complete;";
    stream = nullptr;
  }
  void onAnswerDropped() override { ends += "dropped;"; }
  http::ByteMeter& downstreamMeter() override { return meter; }

  H2Server& server;
  http::ServerStream* stream;
  http::ByteMeter meter;
  std::string told;
  std::string ends;
  int read_ends = 0;
  int writable = 0;
  size_t bytes = 0;
  bool complete = false;
};

// One client and the session that serves it.
class H2Server final : public http::ServerCodecCallbacks {
 public:
  explicit H2Server(plan::Http2Options http2 = defaultOptions(),
                    http::ServerSettings server_settings = {},
                    uint32_t buffer_limit_bytes = 1 << 20)
      : options(std::move(http2)), settings(server_settings), peer(&fd_) {
    settings.http2_options = &options;
    socket = new net::Connection(loop, std::move(fd_), buffer_limit_bytes,
                                 net::Connection::Start::Established, test::makeTransportOfTests());
    session = std::make_unique<ServerSession>(*socket, settings, scratch_, *this);
    FL_CHECK(socket->start());
  }
  ~H2Server() {
    if (!closed) session->abort();
    loop.turn(0);
    session.reset();
    loop.turn(0);
  }

  // The client begins; what the server begins with is thrown away.
  void begin(std::string_view client_settings = {}) {
    send(std::string(kPreface) + frame(FrameType::Settings, 0, 0, client_settings) +
         frame(FrameType::Settings, flags::kAck, 0, {}));
  }
  // The client writes; what comes of it.
  std::string send(std::string_view bytes) {
    std::string all;
    for (size_t at = 0; at < bytes.size(); at += kPart) {
      peer.write(bytes.substr(at, kPart));
      all += received();
    }
    return frames.read(all);
  }
  std::string read() { return frames.read(received()); }

  std::string get(uint32_t id, std::string_view path = "/", TestFields more = {}) {
    return blocks.headers(id, request("GET", path, std::move(more)), true);
  }
  // Blocks are made in the order in which they are sent.
  std::string gets(std::initializer_list<uint32_t> ids) {
    std::string all;
    for (const uint32_t id : ids) all += get(id);
    return all;
  }
  std::string post(uint32_t id, std::string_view path = "/", TestFields more = {}) {
    return blocks.headers(id, request("POST", path, std::move(more)), false);
  }
  static TestFields request(std::string_view method, std::string_view path, TestFields more) {
    TestFields fields = {{":method", std::string(method)},
                         {":scheme", "http"},
                         {":path", std::string(path)},
                         {":authority", "a"}};
    fields.insert(fields.end(), more.begin(), more.end());
    return fields;
  }

  void answer(Request& request, std::string_view body) {
    answerHead(request, body.empty());
    if (!body.empty()) request.stream->sendData(body, true);
  }
  void answerHead(Request& request, bool end) {
    answer_headers_->clear();
    http::ResponseOut out{.status = 200, .headers = answer_headers_.get()};
    request.stream->finishHead(out, end);
    request.stream->sendHead(out, end);
  }

  // Whether something composed would still wait when a turn ends.
  bool hasGathered() const { return !batch_.empty(); }

  // http::ServerCodecCallbacks
  http::RequestSink* newStream(http::ServerStream& stream, Opening) override {
    requests.push_back(std::make_unique<Request>(*this, stream));
    return requests.back().get();
  }
  void onHttp2(net::Connection&, std::string_view) override {}
  void onProtocolError(http::Breach breach, std::string_view details) override {
    told += breach == http::Breach::Flood ? "flood " : "broken ";
    told += std::string(details) + ";";
  }
  stats::Shard<stats::Http2Codec>& http2Stats() override { return stats; }
  void onIdleTimeout() override {
    told += "idle;";
    session->endAfter(20);
  }
  void onDelayedCloseTimeout() override { told += "delayed close timeout;"; }
  void onBytes(uint64_t, uint64_t) override {}
  void onConnectionClosed(bool by_peer) override {
    closed = true;
    told += by_peer ? "closed by peer;" : "closed;";
  }

  uint64_t counted(Counter counter) {
    return stats.view()
        .group(0)[stats::Http2Codec::kCounterPlaces[static_cast<size_t>(counter)].slot]
        .load();
  }

  net::Loop loop;
  plan::Http2Options options;
  http::ServerSettings settings;
  stats::Shard<stats::Http2Codec> stats;
  std::string told;
  bool closed = false;
  bool answers = true;
  std::vector<std::unique_ptr<Request>> requests;
  net::Connection* socket;
  std::unique_ptr<ServerSession> session;
  BlockWriter blocks;
  FrameReader frames;

 private:
  // More would not fit in the socket at once.
  static constexpr size_t kPart = 32 * 1024;

  std::string received() {
    std::string all, got;
    do {
      settle(loop);
      got = peer.read();
      all += got;
    } while (!got.empty());
    return all;
  }

  net::FileDescriptor fd_;
  net::OutBatch batch_;
  std::unique_ptr<http::RequestHead> head_ = std::make_unique<http::RequestHead>();
  std::unique_ptr<http::ResponseHead> unused_ = std::make_unique<http::ResponseHead>();
  StreamPools pools_;
  const http::CodecScratch scratch_{batch_, *head_, *unused_, &pools_};
  std::unique_ptr<HeaderMap> answer_headers_ = std::make_unique<HeaderMap>();

 public:
  http1::Peer peer;
};

inline void Request::onRequestHead(http::RequestHead& head, bool end) {
  told.append(head.method).append(" ").append(head.path).append(" ").append(head.authority);
  for (const http::HeaderEntry& entry : head.headers) {
    if (entry.name_size > 0) {
      told.append(" ").append(entry.name()).append("=").append(entry.value());
    }
  }
  complete = end;
  if ((end || head.path == "/early") && server.answers) server.answer(*this, "ok");
}

inline void Request::onRequestData(std::string_view data, bool end) {
  bytes += data.size();
  if (data.size() <= 32) told.append("{").append(data).append("}");
  complete = end;
  const bool is_early = told.starts_with("POST /by-data ");
  if ((end || is_early) && server.answers) server.answer(*this, "ok");
}

inline void Request::onRequestTrailers(HeaderMap& trailers) {
  for (const http::HeaderEntry& entry : trailers) {
    told.append("<").append(entry.name()).append("=").append(entry.value()).append(">");
  }
  complete = true;
  if (server.answers) server.answer(*this, "ok");
}

inline void Request::onRequestReset(http::ResetReason, std::string_view details) {
  stream = nullptr;
  told.append("!").append(details);
}

inline const std::string kAnswer = "HEADERS 1 :status=200; DATA 1 ok.";

}  // namespace fairlead::http2
