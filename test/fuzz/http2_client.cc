// Any bytes from a host given to the client's side of HTTP/2, in pieces: each answer is told whole
// or ends early, once, and with the connection nothing is left of any stream.
#include <sys/socket.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "http/http2/client_session.h"
#include "http/http2/stream_pool.h"
#include "test/native/http/http2/wire.h"

using namespace fairlead;
using namespace fairlead::http2;

namespace {

// One answer, which ends once.
class Sink final : public http::ResponseSink {
 public:
  void begin(http::ClientStream& to) { stream_ = &to; }
  http::ClientStream* stream() const { return stream_; }

  void onInformational(http::ResponseHead& head) override {
    FL_CHECK(stream_ && !has_head_ && head.status >= 100 && head.status < 200);
  }
  void onResponseHead(http::ResponseHead& head, bool end) override {
    FL_CHECK(stream_ && !has_head_ && head.status >= 200 && head.status < 1000);
    for (const http::HeaderEntry& entry : head.headers) {
      for (const char c : entry.value()) FL_CHECK(c != '\r' && c != '\n' && c != '\0');
    }
    has_head_ = true;
    if (end) over();
  }
  void onResponseData(std::string_view data, bool end) override {
    FL_CHECK(stream_ && has_head_);
    if (!data.empty() && data[0] == 'p' && !paused_) {
      paused_ = true;
      stream_->pauseReading();
    }
    if (end) over();
  }
  void onResponseTrailers(http::HeaderMap&) override {
    FL_CHECK(stream_ && has_head_);
    over();
  }
  void onResponseReadEnd() override {
    FL_CHECK(stream_);
    if (std::exchange(paused_, false)) stream_->resumeReading();
  }
  void onResponseReset(http::ResetReason, std::string_view) override {
    FL_CHECK(stream_);
    over();
  }
  void onUpstreamWritable() override { FL_CHECK(stream_); }
  void onRawReadable() override { FL_CHECK(false); }
  http::ByteMeter& upstreamMeter() override { return meter_; }

 private:
  void over() {
    stream_ = nullptr;
    paused_ = false;
  }

  http::ClientStream* stream_ = nullptr;
  http::ByteMeter meter_;
  bool has_head_ = false;
  bool paused_ = false;
};

class Host final : public http::ClientCodecCallbacks {
 public:
  explicit Host(bool is_lenient) : options_(defaultOptions()) {
    options_.only_resets_invalid = is_lenient;
    settings_.http2 = &options_;
    settings_.limits = {.max_head_bytes = 2048, .max_headers = 16};
    int pair[2];
    FL_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
    peer_ = net::FileDescriptor(pair[0]);
    auto* connection = new net::Connection(loop_, net::FileDescriptor(pair[1]), 64 * 1024,
                                           net::Connection::Start::Connecting);
    session_ = std::make_unique<ClientSession>(*connection, settings_, loans_, *this);
    FL_CHECK(connection->start());
    for (int i = 0; i < 4 && !connected_; ++i) loop_.turn(0);
    FL_CHECK(connected_);
  }
  ~Host() {
    if (!closed_) session_->abort(CloseReason::Local);
    loop_.turn(0);
    for (const auto& sink : sinks_) FL_CHECK(!sink->stream());
    FL_CHECK(ended_ == sinks_.size());
    session_.reset();
    loop_.turn(0);
    FL_CHECK(loop_.slabs().inUse() == 0);
  }

  // One more request, of a shape that its number says.
  void ask() {
    if (closed_ || session_->freeStreams() == 0) return;
    Sink& sink = *sinks_.emplace_back(std::make_unique<Sink>());
    http::ClientStream& stream = session_->newStream(sink);
    sink.begin(stream);
    headers_->clear();
    const size_t shape = sinks_.size() % 3;
    stream.sendHead({.method = shape == 0 ? "HEAD" : "POST",
                     .path = "/",
                     .authority = "a",
                     .headers = headers_.get()},
                    shape == 0);
    if (shape == 1 && sink.stream()) stream.sendData("some of a body", false);
    if (shape == 2 && sink.stream()) stream.sendData("all of a body", true);
  }
  void send(std::string_view bytes) {
    while (!bytes.empty() && !closed_) {
      const ssize_t wrote = ::send(peer_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (wrote > 0) bytes.remove_prefix(static_cast<size_t>(wrote));
      loop_.turn(0);
      char sent[4096];
      while (::recv(peer_.get(), sent, sizeof(sent), 0) > 0) continue;
    }
  }

  // http::ClientCodecCallbacks
  void onConnected() override { connected_ = true; }
  void onConnectFailed(Failure, int) override { closed_ = true; }
  void onStreamEnded(http::ResponseSink&, StreamEnd) override { ++ended_; }
  void onRoom() override {}
  void onGoaway() override { FL_CHECK(!std::exchange(has_goaway_, true)); }
  void onClosed(CloseReason, bool) override { FL_CHECK(!std::exchange(closed_, true)); }
  void serveWaiting() override {}
  void onBytes(size_t, size_t) override {}

 private:
  net::Loop loop_;
  plan::Http2Options options_;
  http::ClientSettings settings_;
  stats::Shard<stats::Http2Codec> stats_;
  Random random_;
  net::FileDescriptor peer_;
  net::OutBatch batch_;
  std::unique_ptr<http::RequestHead> unused_ = std::make_unique<http::RequestHead>();
  std::unique_ptr<http::ResponseHead> head_ = std::make_unique<http::ResponseHead>();
  std::unique_ptr<http::HeaderMap> headers_ = std::make_unique<http::HeaderMap>();
  StreamPools pools_;
  const http::CodecScratch scratch_{batch_, *unused_, *head_, &pools_};
  const http::ClientLoans loans_{scratch_, &stats_, random_};
  std::unique_ptr<ClientSession> session_;
  std::vector<std::unique_ptr<Sink>> sinks_;
  size_t ended_ = 0;
  bool connected_ = false;
  bool has_goaway_ = false;
  bool closed_ = false;
};

}  // namespace

std::vector<std::string> fuzzSeeds() {
  BlockWriter blocks;
  const TestFields ok = {{":status", "200"}, {"x", "y"}};
  return {
      blocks.headers(1, ok, true),
      blocks.headers(1, {{":status", "100"}}, false) + blocks.headers(1, ok, false) +
          dataFrame(1, "pause", false) + dataFrame(1, "x", true),
      blocks.headers(3, ok, false) + dataFrame(3, "x", false) +
          blocks.headers(3, {{"x-trailer", "t"}}, true),
      blocks.headers(1, {{":status", "200"}, {"content-length", "2"}}, false) +
          dataFrame(1, "xyz", true),
      rstStream(1, ErrorCode::RefusedStream) + rstStream(3, ErrorCode::NoError),
      frame(FrameType::GoAway, 0, 0, number32(1) + number32(0)) + blocks.headers(1, ok, true),
      frame(FrameType::Settings, 0, 0, setting(3, 1) + setting(4, 3)) + windowUpdate(1, 10),
      frame(FrameType::PushPromise, flags::kEndHeaders, 1, number32(2)),
      frame(FrameType::Ping, 0, 0, "12345678") + frame(FrameType::Data, 0, 9, "x"),
  };
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  Host host((data[0] & 1) != 0);
  std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  for (int i = 0; i < 4; ++i) host.ask();
  host.send(frame(FrameType::Settings, 0, 0, {}));
  const size_t piece = 1 + (data[0] >> 1) * size_t{7};
  for (size_t at = 0; at < input.size(); at += piece) {
    host.send(input.substr(at, piece));
    host.ask();
  }
  return 0;
}
