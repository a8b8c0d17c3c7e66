// What a client may cost: floods, bombs, those that take nothing.
#include "test/native/http/http2/served_session.h"

namespace fairlead::http2 {

TEST("floods of frames that bring nothing end the connection, each under its name") {
  const auto flood = [](Counter counter, std::string_view told,
                        const std::function<std::string(H2Server&)>& frames) {
    H2Server server;
    server.answers = false;
    server.begin();
    server.send(server.post(1));
    server.send(frames(server));
    EXPECT(server.told.starts_with("flood http2."));
    EXPECT_EQ(server.requests[0]->told, "POST / a!" + std::string(told));
    EXPECT_EQ(server.counted(counter), 1u);
    EXPECT_EQ(server.loop.slabs().inUse(), 0u);
  };
  const auto times = [](size_t count, const std::string& one) {
    std::string all;
    for (size_t i = 0; i < count; ++i) all += one;
    return all;
  };
  flood(Counter::InboundEmptyFramesFlood, "http2.inbound_empty_frames_flood",
        [&](H2Server&) { return times(3, dataFrame(1, "", false)); });
  // Of another stream.
  flood(Counter::InboundEmptyFramesFlood,
        "codec_error:Too_many_consecutive_frames_with_an_empty_payload", [&](H2Server&) {
          return frame(FrameType::Headers, 0, 3, "") +
                 times(3, frame(FrameType::Continuation, 0, 3, ""));
        });
  flood(Counter::InboundPriorityFramesFlood, "codec_error:Too_many_PRIORITY_frames",
        [&](H2Server&) {
          return times(300, frame(FrameType::Priority, 0, 1, number32(3) + "\x10"));
        });
  flood(Counter::InboundWindowUpdateFramesFlood, "codec_error:Too_many_WINDOW_UPDATE_frames",
        [&](H2Server&) { return times(100, windowUpdate(0, 1)); });
}

TEST("who has its pings answered and takes no answer is ended before they fill memory") {
  H2Server server;
  server.begin();
  std::string pings;
  for (int i = 0; i < 100; ++i) pings += frame(FrameType::Ping, 0, 0, "12345678");
  for (int i = 0; i < 100'000 && server.told.empty(); ++i) {
    server.peer.write(pings);
    settle(server.loop);
    EXPECT(server.socket->pendingBytes() < 100'000);
  }
  EXPECT_EQ(server.told, "flood http2.outbound_control_frames_flood;");
  EXPECT_EQ(server.counted(Counter::OutboundControlFlood), 1u);
}

TEST("CONTINUATION frames without end are refused once they are too large, and kept no longer") {
  H2Server server(defaultOptions(), {.limits = {.max_head_bytes = 60'000}});
  server.begin();
  // Fields that end within a frame.
  const std::string part = std::string("\x00\x01y\x7f\xf1\x7b", 6) + std::string(15'984, 'v');
  const std::string begun = server.blocks.block(H2Server::request("GET", "/", {}));
  std::string told = server.send(frame(FrameType::Headers, flags::kEndStream, 1, begun));
  int sent = 0;
  for (; sent < 1000 && told.empty(); ++sent) {
    told = server.send(frame(FrameType::Continuation, 0, 1, part));
  }
  EXPECT_EQ(told, "RST 1 2");
  EXPECT_EQ(sent, 4);
  EXPECT_EQ(server.requests[0]->told, "!http2.header_list_size_too_large");
  EXPECT_EQ(
      server.send(frame(FrameType::Continuation, 0, 1, part) +
                  frame(FrameType::Continuation, flags::kEndHeaders, 1, part) + server.get(3)),
      "HEADERS 3 :status=200; DATA 3 ok.");
}

TEST("pings that were answered do not count with those that come later") {
  plan::Http2Options options = defaultOptions();
  options.max_outbound_control_frames = 20;
  H2Server server(options);
  server.begin();
  std::string pings;
  for (int i = 0; i < 19; ++i) pings += frame(FrameType::Ping, 0, 0, "12345678");
  for (int burst = 0; burst < 5; ++burst) {
    server.send(pings);
    EXPECT_EQ(server.told, "");
  }
}

TEST("what one write makes overflow is told once, by all that it made") {
  plan::Http2Options options = defaultOptions();
  options.max_outbound_control_frames = 20;
  options.max_outbound_frames = 50;
  H2Server server(options);
  server.answers = false;
  server.begin();
  server.send(server.post(1));
  std::string pings;
  for (int i = 0; i < 100; ++i) pings += frame(FrameType::Ping, 0, 0, "12345678");
  server.send(pings);
  EXPECT(server.told.starts_with("flood http2.outbound_frames_flood;"));
  EXPECT_EQ(server.counted(Counter::OutboundFlood), 1u);
  EXPECT_EQ(server.counted(Counter::OutboundControlFlood), 0u);
  EXPECT_EQ(server.requests[0]->told,
            "POST / a!codec_error:Too_many_frames_in_the_outbound_queue.");
}

TEST("a block that expands to far more than it takes costs no memory, and little time") {
  H2Server server;
  server.begin();
  const std::string large(3000, 'v');
  server.send(server.get(1, "/", {{"x-bomb", large}}));
  // The field of the table, again and again.
  HpackEncoder encoder(true);
  std::string block = server.blocks.block(H2Server::request("GET", "/", {}));
  block.append(15'000, '\xbe');
  EXPECT_EQ(
      server.send(frame(FrameType::Headers, flags::kEndHeaders | flags::kEndStream, 3, block)),
      "RST 3 2");
}

TEST("who opens no window has so long to do so, and holds one answer's bytes at most") {
  H2Server server(defaultOptions(), {.flush_timeout_ms = 30}, 1000);
  server.answers = false;
  server.begin(setting(4, 0));
  server.send(server.get(1));
  server.answer(*server.requests[0], std::string(100'000, 'x'));
  EXPECT_EQ(server.read(), "HEADERS 1 :status=200;");
  EXPECT(server.loop.slabs().inUse() > 0);
  pass(server.loop, 50);
  EXPECT_EQ(server.read(), "RST 1 2");
  EXPECT_EQ(server.counted(Counter::TxFlushTimeout), 1u);
  EXPECT_EQ(server.loop.slabs().inUse(), 0u);
}

TEST("a host is paused for a client that takes nothing, and goes on with it") {
  H2Server server(defaultOptions(), {}, 20'000);
  server.answers = false;
  server.begin(setting(4, 0));
  server.send(server.get(1));
  Request& request = *server.requests[0];
  HeaderMap* const headers = new HeaderMap;
  request.stream->sendHead({.status = 200, .headers = headers}, false);
  delete headers;
  request.stream->sendData(std::string(50'000, 'x'), false);
  request.stream->flush();
  EXPECT(request.stream->isOverHighWatermark());
  EXPECT_EQ(request.writable, 0);
  server.send(windowUpdate(1, 45'000));
  EXPECT(!request.stream->isOverHighWatermark());
  EXPECT_EQ(request.writable, 1);
}

TEST("more streams than were allowed end the connection; before it could know, they are refused") {
  plan::Http2Options options = defaultOptions();
  options.max_concurrent_streams = 2;
  H2Server knows(options);
  knows.answers = false;
  knows.begin();
  knows.send(knows.gets({1, 3}));
  EXPECT_EQ(knows.send(knows.get(5)), "");
  EXPECT_EQ(knows.told, "broken http2.too_many_streams;");
  H2Server early(options);
  early.answers = false;
  const std::string told = early.send(std::string(kPreface) + frame(FrameType::Settings, 0, 0, {}) +
                                      early.gets({1, 3, 5}));
  EXPECT(told.find("RST 5 7") != std::string::npos);
}

TEST("until a client has acknowledged a smaller table, it has the one that every table begins as") {
  plan::Http2Options options = defaultOptions();
  options.header_table_bytes = 64;
  H2Server server(options);
  server.answers = false;
  const TestFields large = {{"x-large", std::string(200, 'a')}};
  const std::string first = server.get(1, "/", large);
  const std::string second = server.get(3, "/", large);
  const std::string early =
      server.send(std::string(kPreface) + frame(FrameType::Settings, 0, 0, {}) + first + second);
  EXPECT(early.find("GOAWAY") == std::string::npos);
  EXPECT_EQ(server.requests.size(), 2u);
  EXPECT_EQ(server.requests[0]->told, server.requests[1]->told);
  server.blocks.setPeerLimit(64);
  server.send(frame(FrameType::Settings, flags::kAck, 0, {}) + server.get(5, "/", large));
  EXPECT_EQ(server.requests.size(), 3u);
  EXPECT_EQ(server.requests[2]->told, server.requests[0]->told);
}

TEST("trailers that come behind a whole answer end their stream, which needs no reset then") {
  // All of it comes with one read, before the time at which what is left of a request is reset.
  if (test::isRough()) return;
  plan::Http2Options options = defaultOptions();
  options.max_concurrent_streams = 1;
  H2Server server(options);
  server.begin();
  const std::string early = server.post(1, "/early");
  const std::string trailers = server.blocks.headers(1, {{"x-trailer", "t"}}, true);
  EXPECT_EQ(server.send(early + trailers + server.get(3)),
            kAnswer + " HEADERS 3 :status=200; DATA 3 ok.");
  EXPECT_EQ(server.told, "");
}

TEST("resets beyond what is allowed end the connection") {
  plan::Http2Options options = defaultOptions();
  options.stream_reset_burst = 10;
  options.stream_reset_rate = 1;
  H2Server server(options);
  server.answers = false;
  server.begin();
  std::string told;
  uint32_t id = 1;
  for (; id < 100 && told.empty(); id += 2) {
    told = server.send(server.get(id) + rstStream(id, ErrorCode::Cancel));
  }
  EXPECT_EQ(told, "GOAWAY 21 11");
}

TEST("an idle connection is small, and so is a stream that waits") {
  EXPECT(sizeof(ServerSession) <= 1024);
  EXPECT(sizeof(ServerStream) <= 256);
}

}  // namespace fairlead::http2
