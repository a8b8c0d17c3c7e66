#include "http/http2/client_session.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "http/http2/server_session.h"
#include "http/http2/stream_pool.h"
#include "test/native/http/http1/peer.h"
#include "test/native/http/http2/wire.h"
#include "test/native/test.h"

namespace fairlead::http2 {

namespace {

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

const TestFields kOk = {{":status", "200"}};
// What the pool hears where a host breaks the protocol while one stream is open.
const std::string kBroken =
    "closed " + std::to_string(static_cast<int>(CloseReason::ProtocolError)) + ";local;";

std::string times(size_t count, const std::string& one) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += one;
  return all;
}

}  // namespace

TEST("an HTTP/2 session with a host asks with what HTTP/2 has of a head") {
  Scripted host;
  EXPECT_EQ(host.first, std::string("SETTINGS"));
  Answer& answer = host.ask("GET", true);
  EXPECT_EQ(host.read(),
            std::string("HEADERS 1 :authority=a;:path=/;:method=GET;:scheme=http;te=trailers;."));
  // Blocks depend on those before them.
  host.send(host.blocks.headers(1, {{":status", "103"}}, false));
  host.send(host.blocks.headers(1, kOk, false) + dataFrame(1, "hello", false));
  host.send(host.blocks.headers(1, {{"x-end", "1"}}, true));
  EXPECT_EQ(answer.told, std::string("(103)200 hello<x-end>."));
  EXPECT_EQ(host.takeTold(), std::string("whole;"));
  EXPECT(!host.session->isActive());
}

TEST("an HTTP/2 session with a host has room for as many streams as the host says") {
  Scripted host(setting(3, 2));
  EXPECT_EQ(host.session->freeStreams(), 2u);
  host.ask("GET", true);
  host.ask("GET", true);
  EXPECT_EQ(host.session->freeStreams(), 0u);
  host.send(host.blocks.headers(1, kOk, true));
  EXPECT_EQ(host.takeTold(), std::string("whole;room;"));
  host.send(frame(FrameType::Settings, 0, 0, setting(3, 1)));
  EXPECT_EQ(host.takeTold(), std::string("full;"));
}

TEST("an HTTP/2 session with a host takes no more streams after GOAWAY") {
  Scripted host;
  Answer& first = host.ask("GET", true);
  Answer& second = host.ask("GET", true);
  host.send(frame(FrameType::GoAway, 0, 0, number32(1) + number32(0)));
  EXPECT_EQ(second.told, std::string("reset refused"));
  EXPECT_EQ(host.takeTold(), std::string("goaway;refused;"));
  EXPECT_EQ(host.session->freeStreams(), 0u);
  host.send(host.blocks.headers(1, kOk, true));
  EXPECT_EQ(first.told, std::string("200."));
  EXPECT(host.over);
}

TEST("an HTTP/2 session with a host tells why a stream ended early") {
  Scripted host;
  Answer& refused = host.ask("GET", true);
  Answer& remote = host.ask("GET", true);
  Answer& no_error = host.ask("GET", true);
  host.send(rstStream(1, ErrorCode::RefusedStream) + rstStream(3, ErrorCode::InternalError) +
            rstStream(5, ErrorCode::NoError));
  EXPECT_EQ(refused.told, std::string("reset refused"));
  EXPECT_EQ(remote.told, std::string("reset remote"));
  EXPECT_EQ(no_error.told, std::string("reset remote"));
  EXPECT_EQ(host.takeTold(), std::string("refused;remote;remote;"));
  Answer& lost = host.ask("GET", true);
  host.send("this is no frame of HTTP/2, is it?");
  EXPECT_EQ(lost.told, std::string("reset protocol"));
}

TEST("an HTTP/2 session with a host wants no more of a request that is answered early") {
  Scripted host;
  Answer& answer = host.ask("POST", false);
  host.read();
  EXPECT_EQ(host.send(host.blocks.headers(1, kOk, true)), std::string("RST 1 0"));
  EXPECT_EQ(answer.told, std::string("200."));
  EXPECT_EQ(host.takeTold(), std::string("local;"));
}

TEST("an HTTP/2 session with a host refuses a body of another length than its head says") {
  Scripted host;
  Answer& head = host.ask("HEAD", true);
  Answer& wrong = host.ask("GET", true);
  host.send(host.blocks.headers(1, {{":status", "200"}, {"content-length", "5"}}, true));
  EXPECT_EQ(head.told, std::string("200."));
  host.send(host.blocks.headers(3, {{":status", "200"}, {"content-length", "5"}}, false) +
            dataFrame(3, "four", true));
  EXPECT_EQ(wrong.told, std::string("200 reset protocol"));
  EXPECT(!host.over);
}

TEST("an HTTP/2 session with a host ends where a body comes without an answer") {
  Scripted host;
  Answer& answer = host.ask("GET", true);
  host.read();
  EXPECT_EQ(host.send(dataFrame(1, "x", true)), std::string("GOAWAY 0 1"));
  EXPECT_EQ(answer.told, std::string("reset protocol"));
  EXPECT_EQ(host.takeTold(), kBroken);
}

TEST("an HTTP/2 session with a host sends a body as windows let it") {
  Scripted host(setting(4, 10));
  Answer& answer = host.ask("POST", false);
  host.read();
  answer.stream->sendData(std::string(25, 'x'), true);
  EXPECT_EQ(host.read(), std::string("DATA 1 xxxxxxxxxx"));
  EXPECT_EQ(host.send(windowUpdate(1, 10)), std::string("DATA 1 xxxxxxxxxx"));
  EXPECT_EQ(host.send(windowUpdate(1, 10)), std::string("DATA 1 xxxxx."));
  host.send(host.blocks.headers(1, kOk, true));
  EXPECT_EQ(host.takeTold(), std::string("whole;"));
}

TEST("an HTTP/2 session with a host ends after the last of its requests") {
  http::ClientSettings settings;
  settings.max_requests = 1;
  Scripted host({}, defaultOptions(), settings);
  host.ask("GET", true);
  EXPECT_EQ(host.session->freeStreams(), 0u);
  host.send(host.blocks.headers(1, kOk, true));
  EXPECT_EQ(host.takeTold(),
            "whole;closed " + std::to_string(static_cast<int>(CloseReason::MaxRequests)) + ";");
}

TEST("an HTTP/2 session with a host ends where a host does not answer pings") {
  plan::Http2Options options = defaultOptions();
  options.ping_interval_ms = 5;
  options.ping_timeout_ms = 5;
  Scripted host({}, options);
  Answer& answer = host.ask("GET", true);
  for (int i = 0; i < 100 && !host.over; ++i) host.loop.turn(5);
  EXPECT_EQ(answer.told, std::string("reset connection"));
}

TEST("floods of a host end its connection, each under its name, and keep nothing") {
  const auto flood = [](Counter counter, const std::string& frames) {
    plan::Http2Options options = defaultOptions();
    options.max_outbound_control_frames = 50;
    Scripted host({}, options);
    Answer& answer = host.ask("GET", true);
    host.read();
    host.send(frames);
    EXPECT(answer.told.ends_with("reset protocol"));
    EXPECT_EQ(host.takeTold(), kBroken);
    EXPECT_EQ(host.counted(counter), 1u);
    EXPECT_EQ(host.loop.slabs().inUse(), 0u);
  };
  BlockWriter blocks;
  const std::string answer = blocks.headers(1, kOk, false);
  flood(Counter::InboundEmptyFramesFlood, answer + times(3, dataFrame(1, "", false)));
  flood(Counter::InboundEmptyFramesFlood,
        frame(FrameType::Headers, 0, 1, "") + times(3, frame(FrameType::Continuation, 0, 1, "")));
  flood(Counter::InboundPriorityFramesFlood,
        times(300, frame(FrameType::Priority, 0, 1, number32(3) + "\x10")));
  flood(Counter::InboundWindowUpdateFramesFlood, times(100, windowUpdate(0, 1)));
  // Both are answered, all of one read before any answer leaves.
  flood(Counter::OutboundControlFlood, times(100, frame(FrameType::Ping, 0, 0, "12345678")));
  flood(Counter::OutboundControlFlood, times(100, frame(FrameType::Settings, 0, 0, "")));
}

TEST("a host that has its pings answered and takes no answer is left before they fill memory") {
  Scripted host;
  Answer& answer = host.ask("GET", true);
  host.read();
  const std::string pings = times(100, frame(FrameType::Ping, 0, 0, "12345678"));
  for (int i = 0; i < 100'000 && !answer.is_over; ++i) {
    host.peer.write(pings);
    settle(host.loop);
    EXPECT(host.over || host.session->connection().pendingBytes() < 100'000);
  }
  EXPECT_EQ(answer.told, std::string("reset protocol"));
  EXPECT_EQ(host.counted(Counter::OutboundControlFlood), 1u);
}

TEST("a host's CONTINUATION frames without end are not kept without end") {
  Scripted host;
  Answer& answer = host.ask("GET", true);
  host.read();
  const std::string part(16'000, '\x40');
  host.send(frame(FrameType::Headers, 0, 1, part));
  int sent = 0;
  for (; sent < 1000 && !answer.is_over; ++sent) {
    host.send(frame(FrameType::Continuation, 0, 1, part));
  }
  EXPECT(sent < 20);
  EXPECT_EQ(answer.told, std::string("reset protocol"));
}

TEST("a block of a host that expands to far more than it takes ends its stream alone") {
  Scripted host;
  Answer& first = host.ask("GET", true);
  Answer& second = host.ask("GET", true);
  host.read();
  host.send(host.blocks.headers(1, {{":status", "200"}, {"x-bomb", std::string(3000, 'v')}}, true));
  EXPECT_EQ(first.told, std::string("200."));
  std::string block = host.blocks.block(kOk);
  // The field of the table, again and again.
  block.append(15'000, '\xbe');
  host.send(frame(FrameType::Headers, flags::kEndHeaders | flags::kEndStream, 3, block));
  EXPECT_EQ(second.told, std::string("reset remote"));
  EXPECT(!host.over);
}

TEST("resets of a host that come again and again cost a stream each, and nothing more") {
  Scripted host;
  for (uint32_t id = 1; id < 2001; id += 2) {
    Answer& answer = host.ask("GET", true);
    host.send(times(3, rstStream(id, ErrorCode::InternalError)));
    EXPECT_EQ(answer.told, std::string("reset remote"));
  }
  EXPECT(!host.over);
  EXPECT_EQ(host.counted(Counter::RxReset), 1000u);
  EXPECT_EQ(host.loop.slabs().inUse(), 0u);
}

TEST("a host that opens no window stops who feeds it, and is told when nobody waits any more") {
  Scripted host(setting(4, 0));
  Answer& answer = host.ask("POST", false);
  host.read();
  size_t sent = 0;
  for (; sent < 64 << 20 && !answer.stream->isOverHighWatermark(); sent += 16'000) {
    answer.stream->sendData(std::string(16'000, 'x'), false);
  }
  EXPECT(sent < 2 << 20);
  EXPECT_EQ(host.shown(Gauge::PendingSendBytes), sent);
  answer.stream->reset();
  EXPECT_EQ(host.read(), std::string("RST 1 0"));
  EXPECT_EQ(host.shown(Gauge::PendingSendBytes), 0u);
  EXPECT_EQ(host.loop.slabs().inUse(), 0u);
}

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
  void onProtocolError(std::string_view details) override { FL_CHECK(details.empty()); }
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
