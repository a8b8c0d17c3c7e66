// Any bytes given to the server's side of HTTP/2 after a client's beginning, in pieces and at once:
// it answers, resets or ends, whatever they are, and says the same of them however they are cut;
// with its end nothing is left of any stream: no slab, no gauge, no sink that was not told.
#include <sys/socket.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "http/http2/server_session.h"
#include "http/http2/stream_pool.h"
#include "test/native/http/http2/wire.h"

using namespace fairlead;
using namespace fairlead::http2;

namespace {

class Client;

// What a request's first bytes ask for.
class Sink final : public http::RequestSink {
 public:
  Sink(Client& of, http::ServerStream& to) : client_(of), stream_(&to) {}
  ~Sink() { FL_CHECK(!stream_); }

  void onRequestHead(http::RequestHead& head, bool end) override;
  void onRequestData(std::string_view data, bool end) override {
    FL_CHECK(stream_);
    told += data;
    if (end) told += "<end>";
    if (paused_ || data.empty() || data[0] != 'p') return answerAt(end);
    paused_ = true;
    stream_->pauseReading();
    answerAt(end);
  }
  void onRequestTrailers(http::HeaderMap& trailers) override {
    tell(trailers);
    answerAt(true);
  }
  void onRequestReadEnd() override {
    FL_CHECK(stream_);
    if (!paused_) return;
    paused_ = false;
    stream_->resumeReading();
  }
  void onRequestBroken(uint16_t, std::string_view) override {}
  void onRequestHeadTimeout() override {}
  void onRequestReset(http::ResetReason, std::string_view details) override {
    FL_CHECK(stream_);
    stream_ = nullptr;
    told.append("<reset ").append(details).append(">");
  }
  void onDownstreamWritable() override { FL_CHECK(stream_); }
  void onAnswerComplete() override {
    FL_CHECK(stream_);
    stream_ = nullptr;
  }
  http::ByteMeter& downstreamMeter() override { return meter_; }

  std::string told;

 private:
  void answerAt(bool end);
  void tell(const http::HeaderMap& headers) {
    for (const http::HeaderEntry& entry : headers) {
      if (entry.name_size > 0) told.append(entry.name()).append("=").append(entry.value()) += ';';
    }
  }

  Client& client_;
  http::ServerStream* stream_;
  http::ByteMeter meter_;
  bool paused_ = false;
};

class Client final : public http::ServerCodecCallbacks {
 public:
  explicit Client(bool is_lenient) : options_(defaultOptions()) {
    options_.only_resets_invalid = is_lenient;
    options_.max_concurrent_streams = 1000;
    settings_.http2_options = &options_;
    settings_.limits = {.max_head_bytes = 2048, .max_headers = 16};
    settings_.delayed_close_ms = 0;
    int pair[2];
    FL_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
    peer_ = net::FileDescriptor(pair[0]);
    auto* connection = new net::Connection(loop_, net::FileDescriptor(pair[1]), 64 * 1024);
    session_ = std::make_unique<ServerSession>(*connection, settings_, scratch_, *this);
    FL_CHECK(connection->start());
  }
  ~Client() {
    if (!closed_) session_->abort();
    loop_.turn(0);
    session_.reset();
    sinks_.clear();
    loop_.turn(0);
    FL_CHECK(loop_.slabs().inUse() == 0);
    const Slot* const slots = stats_.view().group(0);
    if (!slots) return;
    for (const Gauge gauge : {Gauge::StreamsActive, Gauge::PendingSendBytes}) {
      const auto place = stats::Http2Codec::kGaugePlaces[static_cast<size_t>(gauge)].slot;
      FL_CHECK(slots[place].load() == slots[place + 1].load());
    }
  }

  void send(std::string_view bytes) {
    while (!bytes.empty() && !closed_) {
      const ssize_t wrote = ::send(peer_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (wrote > 0) bytes.remove_prefix(static_cast<size_t>(wrote));
      loop_.turn(0);
      char answer[4096];
      while (::recv(peer_.get(), answer, sizeof(answer), 0) > 0) continue;
    }
  }

  // http::ServerCodecCallbacks
  http::RequestSink* newStream(http::ServerStream& stream, Opening) override {
    sinks_.push_back(std::make_unique<Sink>(*this, stream));
    return sinks_.back().get();
  }
  void onHttp2(net::Connection&, std::string_view) override {}
  void onProtocolError(http::Breach, std::string_view details) override { broken_ += details; }
  stats::Shard<stats::Http2Codec>& http2Stats() override { return stats_; }
  void onIdleTimeout() override {}
  void onDelayedCloseTimeout() override {}
  void onBytes(uint64_t, uint64_t) override {}
  void onConnectionClosed(bool) override { closed_ = true; }

  http::HeaderMap& headers() { return *headers_; }
  // What of a request comes behind its answer may or may not be looked at still: that is a matter
  // of time.
  void answersEarly() { is_timed_ = true; }
  bool isTimed() const { return is_timed_; }
  // All that was said, stream by stream. Then it is over.
  std::string told() {
    std::string all = broken_;
    if (!closed_) session_->abort();
    for (const auto& sink : sinks_) all.append("\n").append(sink->told);
    return all;
  }

 private:
  using Slot = stats::Slot;

  net::Loop loop_;
  plan::Http2Options options_;
  http::ServerSettings settings_;
  stats::Shard<stats::Http2Codec> stats_;
  net::FileDescriptor peer_;
  net::OutBatch batch_;
  std::unique_ptr<http::RequestHead> head_ = std::make_unique<http::RequestHead>();
  std::unique_ptr<http::ResponseHead> unused_ = std::make_unique<http::ResponseHead>();
  std::unique_ptr<http::HeaderMap> headers_ = std::make_unique<http::HeaderMap>();
  StreamPools pools_;
  const http::CodecScratch scratch_{batch_, *head_, *unused_, &pools_};
  std::unique_ptr<ServerSession> session_;
  std::vector<std::unique_ptr<Sink>> sinks_;
  std::string broken_;
  bool is_timed_ = false;
  bool closed_ = false;
};

void Sink::onRequestHead(http::RequestHead& head, bool end) {
  FL_CHECK(stream_ && !head.method.empty() && head.authority.data());
  for (const http::HeaderEntry& entry : head.headers) {
    for (const char c : entry.name()) FL_CHECK(c > ' ' && !(c >= 'A' && c <= 'Z'));
    for (const char c : entry.value()) FL_CHECK(c != '\r' && c != '\n' && c != '\0');
  }
  told.append(head.method).append(" ").append(head.path) += ';';
  tell(head.headers);
  if (end) told += "<end>";
  if (head.path == "/reset") {
    if (!end) client_.answersEarly();
    std::exchange(stream_, nullptr)->reset();
  } else {
    if (!end && head.path == "/early") client_.answersEarly();
    answerAt(end || head.path == "/early");
  }
}

void Sink::answerAt(bool end) {
  if (!end) return;
  client_.headers().clear();
  http::ResponseOut out{200, &client_.headers()};
  http::ServerStream& to = *stream_;
  to.finishHead(out, false);
  to.sendHead(out, false);
  to.sendData("some words that are an answer", false);
  to.flush();
  to.sendData("and its end", true);
}

std::string beginning() { return std::string(kPreface) + frame(FrameType::Settings, 0, 0, {}); }

}  // namespace

std::vector<std::string> fuzzSeeds() {
  BlockWriter blocks;
  const TestFields head = {
      {":method", "POST"}, {":scheme", "http"}, {":path", "/"}, {":authority", "a"}, {"x", "y"}};
  TestFields early = head;
  early[2].second = "/early";
  TestFields reset = head;
  reset[2].second = "/reset";
  return {
      blocks.headers(1, head, true),
      blocks.headers(1, head, false) + dataFrame(1, "pause", false) + dataFrame(1, "x", true),
      blocks.headers(1, early, false) + dataFrame(1, "x", false) + blocks.headers(3, reset, true),
      blocks.headers(1, head, false) + rstStream(1, ErrorCode::Cancel) + windowUpdate(0, 100),
      frame(FrameType::Settings, 0, 0, setting(4, 3)) + blocks.headers(1, head, true) +
          windowUpdate(1, 10) + frame(FrameType::Settings, 0, 0, setting(4, 100)),
      frame(FrameType::Ping, 0, 0, "12345678") + frame(FrameType::GoAway, 0, 0, "12345678"),
      frame(FrameType::Headers, flags::kEndStream, 1, blocks.block(head)) +
          frame(FrameType::Continuation, flags::kEndHeaders, 1, ""),
      blocks.headers(1, head, false) + dataFrame(1, "x", false) +
          blocks.headers(1, {{"x-trailer", "t"}}, true),
  };
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const bool is_lenient = (data[0] & 1) != 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  Client whole(is_lenient);
  whole.send(beginning());
  whole.send(input);
  Client cut(is_lenient);
  cut.send(beginning());
  const size_t piece = 1 + (data[0] >> 1) * size_t{7};
  for (size_t at = 0; at < input.size(); at += piece) cut.send(input.substr(at, piece));
  if (!whole.isTimed() && !cut.isTimed()) FL_CHECK(whole.told() == cut.told());
  return 0;
}
