// A session with one host, whose frames are written as text.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "http/http2/client_session.h"
#include "http/http2/server_session.h"
#include "http/http2/stream_pool.h"
#include "test/native/http/http1/peer.h"
#include "test/native/http/http2/wire.h"
#include "test/native/test.h"

namespace fairlead::http2 {

using http::HeaderId;
using http::HeaderMap;
using http1::settle;
using CloseReason = http::ClientCodecCallbacks::CloseReason;

// One answer as the proxy would have it: what it is told is kept as text.
class Answer final : public http::ResponseSink {
 public:
  void onInformational(http::ResponseHead& head) override {
    told += "(" + std::to_string(head.status) + ")";
  }
  void onResponseHead(http::ResponseHead& head, bool end) override {
    told += std::to_string(head.status) + (end ? "." : " ");
    is_over = end;
  }
  void onResponseData(std::string_view data, bool end) override {
    bytes += data.size();
    if (data.size() <= 32) told += data;
    if (end) told += ".";
    is_over = end;
    if (pauses && !end) {
      pauses = false;
      has_paused = true;
      stream->pauseReading();
    }
  }
  void onResponseTrailers(HeaderMap& trailers) override {
    for (const http::HeaderEntry& entry : trailers) told += "<" + std::string(entry.name()) + ">";
    told += ".";
    is_over = true;
  }
  void onResponseReadEnd() override { ++read_ends; }
  void onResponseReset(http::ResetReason reason, std::string_view) override {
    constexpr const char* kNames[] = {"connection", "protocol", "local",    "remote",
                                      "refused",    "connect",  "too large"};
    told += std::string("reset ") + kNames[static_cast<int>(reason)];
    is_over = true;
  }
  void onUpstreamWritable() override { ++writable; }
  void onRawReadable() override {}
  http::ByteMeter& upstreamMeter() override { return meter; }

  http::ClientStream* stream = nullptr;
  http::ByteMeter meter;
  std::string told;
  size_t bytes = 0;
  int read_ends = 0;
  int writable = 0;
  bool pauses = false;
  bool has_paused = false;
  bool is_over = false;
};

// A session with a host, without the other end.
class ToHost : public http::ClientCodecCallbacks {
 public:
  ToHost(plan::Http2Options http2, http::ClientSettings client_settings)
      : options(std::move(http2)), settings(client_settings) {
    settings.http2 = &options;
  }
  void open(net::FileDescriptor fd, uint32_t buffer_limit_bytes = 1 << 20) {
    auto* socket =
        new net::Connection(loop, std::move(fd), buffer_limit_bytes,
                            net::Connection::Start::Connecting, test::makeTransportOfTests());
    session = std::make_unique<ClientSession>(*socket, settings, loans_, *this);
    FL_CHECK(socket->start());
  }
  ~ToHost() {
    if (!over) session->abort(CloseReason::Local);
    loop.turn(0);
    session.reset();
    loop.turn(0);
  }

  Answer& ask(std::string_view method, bool end, uint64_t length = UINT64_MAX) {
    Answer& answer = *answers.emplace_back(std::make_unique<Answer>());
    answer.stream = &session->newStream(answer);
    headers->clear();
    headers->add(HeaderId::Connection, "connection", "x");
    headers->add(HeaderId::Te, "te", "trailers");
    const std::string length_text = std::to_string(length);
    if (length != UINT64_MAX) headers->add(HeaderId::ContentLength, "content-length", length_text);
    answer.stream->sendHead(
        {.method = method, .path = "/", .authority = "a", .headers = headers.get()}, end);
    return answer;
  }

  // http::ClientCodecCallbacks
  void onConnected() override { told += "connected;"; }
  void onConnectFailed(Failure, int) override {
    over = true;
    told += "failed;";
  }
  void onStreamEnded(http::ResponseSink&, StreamEnd end) override {
    constexpr const char* kNames[] = {"whole", "connection", "local", "remote", "refused"};
    told += std::string(kNames[static_cast<int>(end)]) + ";";
  }
  void onRoom() override { told += session->freeStreams() > 0 ? "room;" : "full;"; }
  void onGoaway() override { told += "goaway;"; }
  void onClosed(CloseReason reason, bool lost) override {
    over = true;
    told += "closed " + std::to_string(static_cast<int>(reason)) + (lost ? " lost;" : ";");
  }
  void serveWaiting() override {}
  void onBytes(size_t, size_t) override {}
  uint64_t counted(Counter counter) const {
    return stats.view()
        .group(0)[stats::Http2Codec::kCounterPlaces[static_cast<size_t>(counter)].slot]
        .load();
  }
  uint64_t shown(Gauge gauge) const {
    const auto slots =
        stats.view().group(0) + stats::Http2Codec::kGaugePlaces[static_cast<size_t>(gauge)].slot;
    return slots[stats::kUp].load() - slots[stats::kDown].load();
  }
  std::string takeTold() { return std::exchange(told, {}); }

  net::Loop loop;
  plan::Http2Options options;
  http::ClientSettings settings;
  net::OutBatch batch;
  std::unique_ptr<http::RequestHead> request_head = std::make_unique<http::RequestHead>();
  std::unique_ptr<http::ResponseHead> response_head = std::make_unique<http::ResponseHead>();
  std::unique_ptr<HeaderMap> headers = std::make_unique<HeaderMap>();
  StreamPools pools;
  const http::CodecScratch scratch{batch, *request_head, *response_head, &pools};
  stats::Shard<stats::Http2Codec> stats;
  Random random;
  std::unique_ptr<ClientSession> session;
  std::vector<std::unique_ptr<Answer>> answers;
  std::string told;
  bool over = false;

 private:
  const http::ClientLoans loans_{scratch, &stats, random};
};

// And the other end as frames.
class Scripted final : public ToHost {
 public:
  explicit Scripted(std::string_view host_settings = {},
                    plan::Http2Options http2 = defaultOptions(),
                    http::ClientSettings client_settings = {})
      : ToHost(std::move(http2), client_settings), peer(&fd_) {
    open(std::move(fd_));
    settle(loop);
    first = read();
    FL_CHECK(takeTold() == "connected;");
    send(frame(FrameType::Settings, 0, 0, host_settings) +
         frame(FrameType::Settings, flags::kAck, 0, {}));
  }
  std::string read() {
    settle(loop);
    std::string bytes = peer.read();
    if (!saw_preface_ && bytes.size() >= kPreface.size()) {
      FL_CHECK(bytes.starts_with(kPreface));
      saw_preface_ = true;
      bytes.erase(0, kPreface.size());
    }
    return frames.read(bytes);
  }
  std::string send(std::string_view bytes) {
    peer.write(bytes);
    return read();
  }

  BlockWriter blocks;
  FrameReader frames;
  std::string first;

 private:
  net::FileDescriptor fd_;

 public:
  http1::Peer peer;

 private:
  bool saw_preface_ = false;
};

inline const TestFields kOk = {{":status", "200"}};
// What the pool hears where a host breaks the protocol while one stream is open.
inline const std::string kBroken =
    "closed " + std::to_string(static_cast<int>(CloseReason::ProtocolError)) + ";local;";

inline std::string times(size_t count, const std::string& one) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += one;
  return all;
}

}  // namespace fairlead::http2
