#include "test/native/http/http2/session_to_host.h"

namespace fairlead::http2 {

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

TEST("a stream whose head nobody has sent yet ends with its session") {
  Scripted host;
  Answer held;
  held.stream = &host.session->newStream(held);
  EXPECT(host.session->isActive());
  host.send("this is no frame of HTTP/2, is it?");
  EXPECT_EQ(held.told, std::string("reset protocol"));
  EXPECT_EQ(host.takeTold(), std::string("closed 10;local;"));

  Scripted ended;
  Answer unsent;
  unsent.stream = &ended.session->newStream(unsent);
  ended.session->abort(CloseReason::Local);
  EXPECT_EQ(unsent.told, std::string("reset connection"));
  EXPECT_EQ(ended.takeTold(), std::string("closed 2 lost;connection;"));
}

TEST("a stream whose head nobody has sent yet may be tried elsewhere after GOAWAY") {
  Scripted host;
  Answer& asked = host.ask("GET", true);
  Answer held;
  held.stream = &host.session->newStream(held);
  host.send(frame(FrameType::GoAway, 0, 0, number32(1) + number32(0)));
  EXPECT_EQ(held.told, std::string("reset refused"));
  host.send(host.blocks.headers(1, kOk, true));
  EXPECT_EQ(asked.told, std::string("200."));
  EXPECT(host.over);
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

TEST("an HTTP/2 session with a host refuses the body of an answer that has none") {
  Scripted host;
  uint32_t id = 0;
  const auto answered = [&](std::string_view method, const char* status, std::string_view body) {
    Answer& answer = host.ask(method, true);
    id = id == 0 ? 1 : id + 2;
    host.send(host.blocks.headers(id, {{":status", status}}, false) + dataFrame(id, body, true));
    return answer.told;
  };
  EXPECT_EQ(answered("HEAD", "200", "hello"), std::string("200 reset protocol"));
  EXPECT_EQ(answered("GET", "204", "hello"), std::string("204 reset protocol"));
  EXPECT_EQ(answered("GET", "304", "hello"), std::string("304 reset protocol"));
  EXPECT_EQ(answered("HEAD", "200", ""), std::string("200 ."));
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

TEST("an HTTP/2 session that drains ends with its last answer as the real server counts it") {
  const auto closed = [](CloseReason reason) {
    return "closed " + std::to_string(static_cast<int>(reason)) + ";";
  };
  Scripted served;
  served.ask("GET", true);
  served.ask("GET", true);
  served.session->drain();
  EXPECT_EQ(served.takeTold(), std::string("full;"));
  served.send(served.blocks.headers(1, kOk, true));
  EXPECT_EQ(served.takeTold(), std::string("whole;"));
  served.send(served.blocks.headers(3, kOk, true));
  EXPECT_EQ(served.takeTold(), "whole;" + closed(CloseReason::ProtocolError));
  Scripted idle;
  idle.session->drain();
  EXPECT_EQ(idle.takeTold(), "full;" + closed(CloseReason::Local));
  Scripted left;
  Answer& answer = left.ask("GET", true);
  left.session->drain();
  answer.stream->reset();
  settle(left.loop);
  EXPECT_EQ(left.takeTold(), "full;local;" + closed(CloseReason::Local));
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

TEST("more frames for a host than may wait end its connection, which is no fault of the host's") {
  plan::Http2Options options = defaultOptions();
  options.max_outbound_frames = 3;
  Scripted host({}, options);
  Answer& answer = host.ask("GET", true);
  for (int i = 0; i < 3; ++i) host.ask("GET", true);
  settle(host.loop);
  EXPECT_EQ(answer.told, std::string("reset connection"));
  EXPECT_EQ(host.counted(Counter::OutboundFlood), 1u);
  EXPECT(host.takeTold().starts_with("closed 2 lost;"));
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

}  // namespace fairlead::http2
