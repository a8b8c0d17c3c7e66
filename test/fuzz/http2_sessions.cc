// Both sides of HTTP/2 talk to each other over a wire that hands their bytes on in pieces of any
// size, as a program says that is the input: requests and answers with bodies and trailers begin,
// pause, end and are reset in any order, under small windows, small tables, few streams and
// settings that change on the way. What one side said is what the other hears, or less where one of
// them gave up; nobody ever breaks the protocol; and once all are let go on, all that was not given
// up is heard to its end.
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "http/http2/client_session.h"
#include "http/http2/server_session.h"
#include "http/http2/stream_pool.h"
#include "test/fuzz/http2_talk.h"
#include "test/native/http/http2/wire.h"

using namespace fairlead;
using namespace fairlead::http2;

namespace {

using namespace fairlead::http2::talk;

constexpr size_t kMostExchanges = 64;
constexpr size_t kMostSettings = 200;
constexpr useconds_t kLateResetMicros = 2000;

class Talk final : public http::ServerCodecCallbacks, public http::ClientCodecCallbacks {
 public:
  explicit Talk(Program& program) : program_(program), options_(defaultOptions()) {
    const uint8_t shape = program.next();
    options_.stream_window_bytes = shape & 1 ? 65535 : 200'000;
    options_.connection_window_bytes = shape & 2 ? 65535 : 300'000;
    options_.header_table_bytes = shape & 4 ? 128 : 4096;
    options_.max_concurrent_streams = shape & 8 ? 3 : 100;
    options_.without_huffman = (shape & 16) != 0;
    options_.only_resets_invalid = (shape & 32) != 0;
    const uint32_t buffer_limit = shape & 64 ? 16 * 1024 : 1024 * 1024;
    server_settings_.http2_options = &options_;
    server_settings_.delayed_close_ms = 0;
    client_settings_.http2 = &options_;
    int pairs[2][2];
    for (auto& pair : pairs) {
      FL_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
    }
    client_end_ = net::FileDescriptor(pairs[0][0]);
    server_end_ = net::FileDescriptor(pairs[1][0]);
    up_ = std::make_unique<Way>(client_end_.get(), server_end_.get(), kPreface);
    down_ = std::make_unique<Way>(server_end_.get(), client_end_.get(), std::string_view());
    using net::Connection;
    auto* at_client = new Connection(loop_, net::FileDescriptor(pairs[0][1]), buffer_limit,
                                     Connection::Start::Connecting);
    auto* at_server = new Connection(loop_, net::FileDescriptor(pairs[1][1]), buffer_limit);
    client_ = std::make_unique<ClientSession>(*at_client, client_settings_, loans_, *this);
    server_ = std::make_unique<ServerSession>(*at_server, server_settings_, scratch_, *this);
    FL_CHECK(at_client->start() && at_server->start());
    for (int i = 0; i < 4 && !connected_; ++i) loop_.turn(0);
    FL_CHECK(connected_);
    // Where few streams are allowed, the client is to know: what is refused would be given up.
    if ((shape & 0x88) != 0) pass();
  }

  ~Talk() {
    if (!client_closed_) client_->abort(CloseReason::Local);
    if (!server_closed_) server_->abort();
    loop_.turn(0);
    for (const auto& exchange : exchanges_) FL_CHECK(!exchange->client && !exchange->server);
    FL_CHECK(ended_ == exchanges_.size());
    client_.reset();
    server_.reset();
    loop_.turn(0);
    FL_CHECK(loop_.slabs().inUse() == 0);
  }

  void run() {
    while (!program_.isOver() && !client_closed_ && !server_closed_) step();
    finish();
  }

  // http::ServerCodecCallbacks
  http::RequestSink* newStream(http::ServerStream& stream, Opening opening) override {
    FL_CHECK(opening == Opening::Request && heard_ < exchanges_.size());
    // They come in the order in which they went.
    Exchange& exchange = *opened_[heard_++];
    exchange.server = &stream;
    return &exchange;
  }
  void onHttp2(net::Connection&, std::string_view) override { FL_CHECK(false); }
  void onProtocolError(http::Breach, std::string_view details) override {
    std::fprintf(stderr, "the client broke the protocol: %.*s\n", static_cast<int>(details.size()),
                 details.data());
    FL_CHECK(false);
  }
  stats::Shard<stats::Http2Codec>& http2Stats() override { return stats_; }
  void onIdleTimeout() override {}
  void onDelayedCloseTimeout() override {}
  void onConnectionClosed(bool) override { FL_CHECK(!std::exchange(server_closed_, true)); }

  // http::ClientCodecCallbacks
  void onConnected() override { connected_ = true; }
  void onConnectFailed(Failure, int) override { FL_CHECK(false); }
  void onStreamEnded(http::ResponseSink&, StreamEnd) override { ++ended_; }
  void onRoom() override {}
  void onGoaway() override { has_goaway_ = true; }
  void onClosed(CloseReason reason, bool) override {
    FL_CHECK(reason != CloseReason::ProtocolError && !std::exchange(client_closed_, true));
  }
  void serveWaiting() override {}
  // Of both sides.
  void onBytes(uint64_t, uint64_t) override {}

 private:
  Exchange* any() {
    const uint8_t which = program_.next();
    return exchanges_.empty() ? nullptr : exchanges_[which % exchanges_.size()].get();
  }

  void step() {
    switch (program_.next() % 20) {
      case 0:
      case 1:
        return ask();
      case 2:
      case 3:
        return sayRequest(any(), false);
      case 4:
        return sayRequest(any(), true);
      case 5:
        return sayRequestTrailers(any());
      case 6:
      case 7:
        return answer(any());
      case 8:
      case 9:
        return sayAnswer(any(), false);
      case 10:
        return sayAnswer(any(), true);
      case 11:
        return sayAnswerTrailers(any());
      case 12:
        return giveUp(any());
      case 13:
        return pause(any());
      case 14:
        up_->move(1 + program_.length());
        return turn();
      case 15:
        down_->move(1 + program_.length());
        return turn();
      case 16:
        return pass();
      case 17:
        return changeSettings();
      case 18:
        return inform(any());
      default:
        if (program_.next() == 0) server_->endAfter(1'000'000);
        return turn();
    }
  }

  void turn() { loop_.turn(0); }

  // All that is on its way arrives.
  void pass() {
    for (bool moves = true; moves && !client_closed_ && !server_closed_;) {
      turn();
      moves = up_->move(SIZE_MAX);
      moves |= down_->move(SIZE_MAX);
      turn();
    }
  }

  void ask() {
    if (client_closed_ || client_->freeStreams() == 0 || exchanges_.size() >= kMostExchanges)
      return;
    Exchange& exchange = *exchanges_.emplace_back(std::make_unique<Exchange>(exchanges_.size()));
    exchange.client = &client_->newStream(exchange);
    const bool end = program_.next() % 2 == 0;
    exchange.request.has_head = true;
    exchange.request.head = fieldsOf(program_);
    exchange.request.is_said_whole = end;
    opened_.push_back(&exchange);
    exchange.client->sendHead({.method = "POST",
                               .path = exchange.number % 2 == 0 ? "/" : "/some/where",
                               .authority = "a",
                               .headers = &mapOf(exchange.request.head)},
                              end);
  }

  void sayRequest(Exchange* exchange, bool end) {
    const size_t size = program_.length();
    if (!exchange || !exchange->client || exchange->request.is_said_whole) return;
    const auto bytes = std::make_unique<std::string>(exchange->request.nextBytes(size));
    exchange->request.is_said_whole = end;
    exchange->client->sendData(*bytes, end);
    if (!end && exchange->client) exchange->client->flush();
  }

  void sayRequestTrailers(Exchange* exchange) {
    Fields fields = fieldsOf(program_);
    if (!exchange || !exchange->client || exchange->request.is_said_whole) return;
    exchange->request.is_said_whole = true;
    exchange->request.trailers = fields;
    exchange->client->sendTrailers(&mapOf(fields));
  }

  void answer(Exchange* exchange) {
    const bool end = program_.next() % 2 == 0;
    Fields fields = fieldsOf(program_);
    if (!exchange || !exchange->server || exchange->answer.has_head) return;
    exchange->answer.has_head = true;
    exchange->answer.head = fields;
    exchange->answer.is_said_whole = end;
    http::ResponseOut out{200, &mapOf(fields)};
    exchange->server->finishHead(out, end);
    exchange->server->sendHead(out, end);
  }

  void sayAnswer(Exchange* exchange, bool end) {
    const size_t size = program_.length();
    if (!exchange || !exchange->server || !exchange->answer.has_head) return;
    const auto bytes = std::make_unique<std::string>(exchange->answer.nextBytes(size));
    exchange->answer.is_said_whole = end;
    exchange->server->sendData(*bytes, end);
    if (!end && exchange->server) exchange->server->flush();
  }

  void sayAnswerTrailers(Exchange* exchange) {
    Fields fields = fieldsOf(program_);
    if (!exchange || !exchange->server || !exchange->answer.has_head) return;
    exchange->answer.trailers = fields;
    exchange->answer.is_said_whole = true;
    exchange->server->sendTrailers(&mapOf(fields));
  }

  void inform(Exchange* exchange) {
    Fields fields = fieldsOf(program_);
    if (!exchange || !exchange->server || exchange->answer.has_head) return;
    exchange->server->sendInformational(103, &mapOf(fields));
  }

  void giveUp(Exchange* exchange) {
    const bool is_client = program_.next() % 2 == 0;
    if (!exchange) return;
    if (is_client && exchange->client) {
      exchange->is_given_up = true;
      std::exchange(exchange->client, nullptr)->reset();
    } else if (!is_client && exchange->server) {
      exchange->is_given_up = true;
      std::exchange(exchange->server, nullptr)->reset();
    }
  }

  void pause(Exchange* exchange) {
    if (!exchange) return;
    if (program_.next() % 2 == 0) {
      if (!exchange->client) return;
      exchange->client_pauses = !exchange->client_pauses;
      exchange->client_pauses ? exchange->client->pauseReading()
                              : exchange->client->resumeReading();
    } else {
      if (!exchange->server) return;
      exchange->server_pauses = !exchange->server_pauses;
      exchange->server_pauses ? exchange->server->pauseReading()
                              : exchange->server->resumeReading();
    }
  }

  // A peer's settings come anew: less of a window, as much again, another table.
  void changeSettings() {
    Way& way = program_.next() % 2 == 0 ? *up_ : *down_;
    const uint8_t value = program_.next();
    // Their answers may not become a flood.
    if (++settings_changes_ > kMostSettings) return;
    if (value % 2 == 0) {
      way.inject(frame(FrameType::Settings, 0, 0,
                       setting(4, value == 0 ? options_.stream_window_bytes : value * 200u)));
    } else {
      way.inject(frame(FrameType::Settings, 0, 0,
                       setting(1, std::min(value * 20u, options_.header_table_bytes))));
    }
  }

  // Everybody goes on, and says what is still to be said.
  void finish() {
    for (Way* way : {up_.get(), down_.get()}) {
      for (int i = 0; i < 3; ++i) {
        pass();
        way->inject(frame(FrameType::Settings, 0, 0, setting(4, options_.stream_window_bytes)));
      }
    }
    for (int round = 0; round < 4; ++round) {
      for (const auto& exchange : exchanges_) finishOne(*exchange);
      pass();
      // What is not wanted any more is reset a little later, and its room given to others.
      if (!isAllHeard()) ::usleep(kLateResetMicros);
    }
    FL_CHECK(client_closed_ || server_closed_ || isAllHeard());
  }

  bool isAllHeard() const {
    for (const auto& exchange : exchanges_) {
      if (exchange->is_given_up) continue;
      if (!exchange->request.is_heard_whole || !exchange->answer.is_heard_whole) return false;
    }
    return true;
  }

  void finishOne(Exchange& exchange) {
    if (exchange.client && std::exchange(exchange.client_pauses, false)) {
      exchange.client->resumeReading();
    }
    if (exchange.server && std::exchange(exchange.server_pauses, false)) {
      exchange.server->resumeReading();
    }
    if (exchange.client && !exchange.request.is_said_whole) sayRequest(&exchange, true);
    if (!exchange.server || !exchange.request.is_heard_whole) return;
    if (!exchange.answer.has_head) answer(&exchange);
    if (exchange.server && !exchange.answer.is_said_whole) sayAnswer(&exchange, true);
  }

  Program& program_;
  net::Loop loop_;
  plan::Http2Options options_;
  http::ServerSettings server_settings_;
  http::ClientSettings client_settings_;
  stats::Shard<stats::Http2Codec> stats_;
  Random random_;
  net::FileDescriptor client_end_;
  net::FileDescriptor server_end_;
  std::unique_ptr<Way> up_;
  std::unique_ptr<Way> down_;
  net::OutBatch batch_;
  std::unique_ptr<http::RequestHead> request_ = std::make_unique<http::RequestHead>();
  std::unique_ptr<http::ResponseHead> response_ = std::make_unique<http::ResponseHead>();
  StreamPools pools_;
  const http::CodecScratch scratch_{batch_, *request_, *response_, &pools_};
  const http::ClientLoans loans_{scratch_, &stats_, random_};
  std::unique_ptr<ClientSession> client_;
  std::unique_ptr<ServerSession> server_;
  std::vector<std::unique_ptr<Exchange>> exchanges_;
  std::vector<Exchange*> opened_;
  size_t heard_ = 0;
  size_t ended_ = 0;
  size_t settings_changes_ = 0;
  bool connected_ = false;
  bool has_goaway_ = false;
  bool client_closed_ = false;
  bool server_closed_ = false;
};

}  // namespace

std::vector<std::string> fuzzSeeds() {
  // A request with a body, its answer with a body and trailers, told in the order of step().
  const std::string exchange = std::string("\x00\x00\x01\x02\x21\x03", 6) +
                               std::string("\x02\x00\x20\x04\x00\x90\x10", 7) +
                               std::string("\x06\x00\x01\x02\x35\x05\x41\x02\x08\x00\xff\x10", 12) +
                               std::string("\x0b\x00\x01\x17\x01\x10", 6);
  std::vector<std::string> seeds;
  for (const char shape : {0x00, 0x7f, 0x03, 0x4c}) {
    seeds.push_back(shape + exchange);
    seeds.push_back(shape + exchange + std::string("\x00\x01\x00\x0d\x01\x01\x02\x01\xf0", 9) +
                    std::string("\x0e\x30\x11\x01\x02\x0f\x05\x12\x01\x00\x0c\x01\x01\x10", 14) +
                    exchange);
  }
  return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Program program(data, size);
  Talk talk(program);
  talk.run();
  return 0;
}
