// Sessions of ours on both sides of one connection.
#include "test/native/http/http2/session_to_host.h"

namespace fairlead::http2 {

namespace {

// What is asked is answered with as much, and trailers.
class EchoingRequest final : public http::RequestSink {
 public:
  explicit EchoingRequest(HeaderMap& scratch) : headers_(scratch) {}
  void use(http::ServerStream& stream) { stream_ = &stream; }

  void onRequestHead(http::RequestHead&, bool end) override {
    headers_.clear();
    http::ResponseOut out{.status = 200, .headers = &headers_};
    stream_->finishHead(out, false);
    stream_->sendHead(out, false);
    if (end) onRequestData({}, true);
  }
  void onRequestData(std::string_view data, bool end) override {
    stream_->sendData(data, false);
    if (!end) return;
    headers_.clear();
    headers_.add(HeaderId::Other, "x-end", "1");
    stream_->sendTrailers(&headers_);
  }
  void onRequestTrailers(HeaderMap&) override { onRequestData({}, true); }
  void onRequestReadEnd() override { stream_->flush(); }
  void onRequestBroken(uint16_t, std::string_view) override {}
  void onRequestHeadTimeout() override {}
  void onRequestReset(http::ResetReason, std::string_view) override {}
  void onDownstreamWritable() override {}
  void onAnswerComplete() override {}
  http::ByteMeter& downstreamMeter() override { return meter_; }

 private:
  HeaderMap& headers_;
  http::ServerStream* stream_ = nullptr;
  http::ByteMeter meter_;
};

class EchoingHost final : public http::ServerCodecCallbacks {
 public:
  EchoingHost(ToHost& client, net::FileDescriptor fd, uint32_t buffer_limit_bytes)
      : client_(client) {
    settings_.http2_options = &client.options;
    auto* socket =
        new net::Connection(client.loop, std::move(fd), buffer_limit_bytes,
                            net::Connection::Start::Established, test::makeTransportOfTests());
    session_ = std::make_unique<ServerSession>(*socket, settings_, client.scratch, *this);
    FL_CHECK(socket->start());
  }
  ~EchoingHost() {
    if (!closed_) session_->abort();
    client_.loop.turn(0);
    session_.reset();
    client_.loop.turn(0);
  }

  http::RequestSink* newStream(http::ServerStream& stream, Opening) override {
    requests_.push_back(std::make_unique<EchoingRequest>(*headers_));
    requests_.back()->use(stream);
    return requests_.back().get();
  }
  void onHttp2(net::Connection&, std::string_view) override {}
  void onProtocolError(http::Breach, std::string_view details) override {
    FL_CHECK(details.empty());
  }
  stats::Shard<stats::Http2Codec>& http2Stats() override { return stats_; }
  void onIdleTimeout() override {}
  void onDelayedCloseTimeout() override {}
  void onBytes(uint64_t, uint64_t) override {}
  void onConnectionClosed(bool) override { closed_ = true; }

 private:
  ToHost& client_;
  http::ServerSettings settings_;
  stats::Shard<stats::Http2Codec> stats_;
  std::unique_ptr<HeaderMap> headers_ = std::make_unique<HeaderMap>();
  std::unique_ptr<ServerSession> session_;
  std::vector<std::unique_ptr<EchoingRequest>> requests_;
  bool closed_ = false;
};

}  // namespace

// Client and server of ours, in the same loop, with windows that are smaller than what they say:
// everything comes, in spite of cuts (--rough) and of readers that pause.
TEST("an HTTP/2 session with a host understands what a host of ours says, and is understood") {
  plan::Http2Options options = defaultOptions();
  options.stream_window_bytes = 3000;
  options.max_empty_frames = 1000;
  int pair[2];
  FL_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
  ToHost client(options, {});
  EchoingHost host(client, net::FileDescriptor(pair[0]), 16 * 1024);
  client.open(net::FileDescriptor(pair[1]), 16 * 1024);
  settle(client.loop);
  const std::string body(100'000, 'b');
  std::vector<Answer*> answers;
  for (int i = 0; i < 10; ++i) answers.push_back(&client.ask("POST", false, body.size()));
  for (Answer* answer : answers) {
    answer->pauses = true;
    answer->stream->sendData(body, true);
  }
  for (int turn = 0; turn < 20'000; ++turn) {
    client.loop.turn(0);
    bool all_over = true;
    for (Answer* answer : answers) {
      // Whoever has paused goes on a little later.
      if (answer->has_paused && turn % 7 == 3 && !answer->is_over) {
        answer->has_paused = false;
        answer->stream->resumeReading();
      }
      all_over &= answer->is_over;
    }
    if (all_over) break;
  }
  for (Answer* answer : answers) {
    EXPECT_EQ(answer->bytes, body.size());
    EXPECT(answer->told.ends_with("<x-end>."));
  }
  EXPECT(!client.session->isActive());
}

}  // namespace fairlead::http2
