#include "test/native/http/http2/served_session.h"

namespace fairlead::http2 {

TEST("a client begins, asks, and is answered, however its bytes are cut") {
  for (const size_t cut : {size_t{1}, size_t{7}, size_t{24}, size_t{1000}}) {
    H2Server server;
    const std::string all = std::string(kPreface) + frame(FrameType::Settings, 0, 0, {}) +
                            server.post(1, "/a", {{"x-one", "1"}}) + dataFrame(1, "hello", false) +
                            dataFrame(1, "", true);
    std::string told;
    for (size_t at = 0; at < all.size(); at += cut) {
      const std::string more = server.send(std::string_view(all).substr(at, cut));
      if (!told.empty() && !more.empty()) told += ' ';
      told += more;
    }
    // It begins with the first byte that comes, and answers SETTINGS when they do.
    const bool at_once = cut >= all.size();
    EXPECT_EQ(told,
              (at_once ? "SETTINGS ACK WINDOW 0 25100289 " : "SETTINGS WINDOW 0 25100289 ACK ") +
                  kAnswer);
    EXPECT(server.requests[0]->complete);
    EXPECT(server.requests[0]->told.starts_with("POST /a a x-one=1{h"));
    EXPECT_EQ(server.session->isOpen(), true);
  }
}

TEST("streams are answered in whatever order, and the answers of one turn leave together") {
  H2Server server;
  server.answers = false;
  server.begin();
  EXPECT_EQ(server.send(server.gets({1, 3, 5})), "");
  server.answer(*server.requests[2], "c");
  server.answer(*server.requests[0], "");
  server.answer(*server.requests[1], "b");
  EXPECT_EQ(
      server.read(),
      "HEADERS 5 :status=200; DATA 5 c. HEADERS 1 :status=200;. HEADERS 3 :status=200; DATA 3 b.");
}

TEST("trailers end a request, and an answer") {
  H2Server server;
  server.begin();
  server.send(server.post(1) + dataFrame(1, "x", false));
  EXPECT_EQ(server.send(server.blocks.headers(1, {{"x-t", "v"}}, true)), kAnswer);
  EXPECT_EQ(server.requests[0]->told, "POST / a{x}<x-t=v>");
}

TEST("cookies are joined, and a host names who is asked where :authority does not") {
  H2Server server;
  server.begin();
  server.send(server.get(1, "/", {{"cookie", "a=1"}, {"x-b", "2"}, {"cookie", "c=3"}}));
  EXPECT_EQ(server.requests[0]->told, "GET / a cookie=a=1; c=3 x-b=2");
  server.send(server.blocks.headers(
      3, {{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {"host", "h"}}, true));
  EXPECT_EQ(server.requests[1]->told, "GET / h");
}

TEST("a head that breaks a rule ends the connection, or where that is wanted its stream alone") {
  const std::vector<TestFields> broken = {
      {{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {":authority", "a"}, {"X-Up", "v"}},
      {{":method", "GET"},
       {":scheme", "http"},
       {":path", "/"},
       {":authority", "a"},
       {"te", "gzip"}},
      {{":method", "GET"}, {":scheme", "http"}, {":path", ""}, {":authority", "a"}},
      {{":method", "GET"}, {":scheme", "http"}, {":path", "no"}, {":authority", "a"}},
      {{":method", "GET"}, {":scheme", "http"}, {":authority", "a"}},
      {{":method", "GET"}, {":scheme", "http"}, {":path", "/"}},
      {{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {"host", ""}},
      {{":method", "GET"},
       {":method", "GET"},
       {":scheme", "http"},
       {":path", "/"},
       {":authority", "a"}},
      {{":method", "GET"}, {":scheme", "http"}, {"x", "v"}, {":path", "/"}, {":authority", "a"}},
      {{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {":authority", "a"}, {":odd", "v"}},
      {{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {":authority", "a b"}},
      {{":method", "GET"},
       {":scheme", "http"},
       {":path", "/"},
       {":authority", "a"},
       {"upgrade", "x"}},
      {{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {":authority", "a"}, {"x", "a\nb"}},
      {{":method", "GET"},
       {":scheme", "http"},
       {":path", "/"},
       {":authority", "a"},
       {"content-length", "5"}},
      {{":method", "CONNECT"}, {":scheme", "http"}, {":path", "/"}, {":authority", "a"}},
  };
  for (const TestFields& fields : broken) {
    H2Server strict;
    strict.begin();
    EXPECT_EQ(strict.send(strict.blocks.headers(1, fields, true)), "");
    EXPECT(strict.told.starts_with("broken http2."));
    EXPECT_EQ(strict.counted(Counter::RxMessagingError), 1u);

    plan::Http2Options options = defaultOptions();
    options.only_resets_invalid = true;
    H2Server lenient(options);
    lenient.begin();
    EXPECT_EQ(lenient.send(lenient.blocks.headers(1, fields, true)), "RST 1 1");
    EXPECT_EQ(lenient.send(lenient.get(3)), "HEADERS 3 :status=200; DATA 3 ok.");
  }
}

TEST("what is too large, or too many, is reset, and the tables go on") {
  H2Server server(defaultOptions(), {.limits = {.max_head_bytes = 1000, .max_headers = 10}});
  server.begin();
  EXPECT_EQ(server.send(server.get(1, "/", {{"x-large", std::string(2000, 'a')}})), "RST 1 2");
  EXPECT_EQ(server.requests[0]->told, "!http2.header_list_size_too_large");
  TestFields many;
  for (int i = 0; i < 12; ++i) many.push_back({"x-" + std::to_string(i), "v"});
  EXPECT_EQ(server.send(server.get(3, "/", many)), "RST 3 2");
  EXPECT_EQ(server.counted(Counter::HeaderOverflow), 1u);
  EXPECT_EQ(server.send(server.get(5, "/", {{"x-11", "v"}})), "HEADERS 5 :status=200; DATA 5 ok.");
  EXPECT_EQ(server.requests[2]->told, "GET / a x-11=v");
}

TEST("headers that are dropped as they have an underscore do not count") {
  TestFields many;
  for (int i = 0; i < 12; ++i) many.push_back({"x_" + std::to_string(i), "v"});
  H2Server server(defaultOptions(), {.limits = {.max_headers = 10, .spares_underscores = true}});
  server.begin();
  EXPECT(server.send(server.get(1, "/", many)).starts_with("HEADERS 1 :status=200"));
  for (int i = 0; i < 12; ++i) many.push_back({"x-" + std::to_string(i), "v"});
  EXPECT_EQ(server.send(server.get(3, "/", many)), "RST 3 2");
  // There is room left for what the proxy adds.
  const TestFields most(1001, {"x_a", "v"});
  EXPECT_EQ(server.send(server.get(5, "/", most)), "RST 5 2");
}

TEST("what comes of a request that is answered without a body counts for nobody") {
  H2Server server;
  server.answers = false;
  server.begin();
  server.send(server.post(1));
  Request& request = *server.requests[0];
  server.answer(request, "");
  const uint64_t before = request.meter.wire_received;
  EXPECT(before > 0);
  server.send(dataFrame(1, "late", true));
  EXPECT_EQ(request.meter.wire_received, before);
}

TEST("a request that breaks rules counts no bytes; trailers count as heads do") {
  H2Server server;
  server.answers = false;
  server.begin();
  server.send(server.post(1));
  Request& request = *server.requests[0];
  const uint32_t head = request.meter.header_received;
  const uint32_t plain = request.meter.plain_received;
  server.send(server.blocks.headers(1, {{"a", "b"}}, true));
  EXPECT(request.meter.header_received > head);
  EXPECT_EQ(request.meter.plain_received, plain + 2);
  EXPECT_EQ(request.meter.wire_received, request.meter.header_received);
  server.send(server.get(3, "/", {{"connection", "x"}}));
  EXPECT_EQ(server.requests[1]->meter.wire_received, 0u);
}

TEST("only a tunnel whose host has left is reset as one that could not connect") {
  H2Server server;
  server.answers = false;
  server.begin();
  const TestFields connect = {{":method", "CONNECT"}, {":authority", "a:1"}};
  server.send(server.blocks.headers(1, connect, false));
  server.send(server.blocks.headers(3, connect, false));
  server.requests[0]->stream->reset();
  EXPECT_EQ(server.read(), "RST 1 2");
  server.requests[1]->stream->failTunnel();
  server.requests[1]->stream->reset();
  EXPECT_EQ(server.read(), "RST 3 10");
}

TEST("trailers may say how long the body was, if its head has not") {
  const auto told = [](const std::string& declared, const std::string& late) {
    H2Server server;
    server.begin();
    TestFields more;
    if (!declared.empty()) more.push_back({"content-length", declared});
    server.send(server.post(1, "/", more) + dataFrame(1, "abc", false));
    server.send(server.blocks.headers(1, {{"content-length", late}}, true));
    return server.requests[0]->told.substr(server.requests[0]->told.find("{abc}") + 5);
  };
  EXPECT_EQ(told("", "3"), "<content-length=3>");
  EXPECT_EQ(told("", "4"), "!http2.violation.of.messaging.rule");
  EXPECT_EQ(told("3", "3"), "!http2.invalid.header.field");
  EXPECT_EQ(told("", "x"), "!http2.invalid.header.field");
}

TEST("an answer goes as far as its window, the rest as it opens, and who waits costs slabs only") {
  H2Server server;
  server.answers = false;
  server.begin(setting(4, 10));
  server.send(server.get(1));
  server.answer(*server.requests[0], "0123456789abcde");
  EXPECT_EQ(server.read(), "HEADERS 1 :status=200; DATA 1 0123456789");
  EXPECT_EQ(server.send(windowUpdate(1, 2)), "DATA 1 ab");
  EXPECT_EQ(server.loop.slabs().inUse(), 1u);
  // A window that is smaller than what was sent takes until it is more than that.
  EXPECT_EQ(server.send(frame(FrameType::Settings, 0, 0, setting(4, 5))), "ACK");
  EXPECT_EQ(server.send(windowUpdate(1, 5)), "");
  EXPECT_EQ(server.send(windowUpdate(1, 100)), "DATA 1 cde.");
  EXPECT_EQ(server.loop.slabs().inUse(), 0u);
}

TEST("an answer to the head of a request that is not whole has sent nothing by its end") {
  H2Server server;
  server.begin();
  server.send(server.post(1, "/early"));
  const Request& early = *server.requests[0];
  EXPECT_EQ(early.ends, "complete;");
  EXPECT_EQ(early.meter.wire_sent, 0u);
  EXPECT_EQ(early.meter.header_sent, 0u);
  EXPECT_EQ(early.meter.plain_sent, 0u);
  EXPECT(early.meter.wire_received > 0);
  // A whole one, and one that is answered later on.
  server.send(server.get(3));
  EXPECT(server.requests[1]->meter.header_sent > 0);
  server.answers = false;
  server.send(server.post(5, "/early"));
  server.answer(*server.requests[2], "ok");
  EXPECT_EQ(server.requests[2]->meter.wire_sent,
            server.requests[2]->meter.header_sent + kFrameHeadBytes + 2);
}

TEST("an answer to what follows a head has been sent by its end, with what was sent before it") {
  H2Server server;
  server.begin();
  server.send(server.post(1, "/by-data"));
  Request& request = *server.requests[0];
  request.stream->sendInformational(100, nullptr);
  const uint32_t interim = request.meter.header_sent;
  EXPECT(interim > 0);
  server.send(frame(FrameType::Data, 0, 1, "part"));
  EXPECT_EQ(request.ends, "complete;");
  EXPECT(request.meter.header_sent > interim);
  EXPECT_EQ(request.meter.wire_sent, request.meter.header_sent + kFrameHeadBytes + 2);
}

TEST("an answer is complete once all of it is sent, to the last of which its bytes count") {
  H2Server server;
  server.answers = false;
  server.begin(setting(4, 10));
  server.send(server.get(1));
  Request& request = *server.requests[0];
  server.answer(request, "0123456789abcde");
  EXPECT_EQ(request.ends, "composed;");
  server.send(windowUpdate(1, 100));
  EXPECT_EQ(request.ends, "composed;complete;");
  EXPECT_EQ(request.meter.wire_sent, request.meter.header_sent + 2 * kFrameHeadBytes + 15);
  // One that its window takes at once, and one whose trailers wait.
  server.send(server.gets({3, 5}));
  server.answer(*server.requests[1], "0123456789");
  EXPECT_EQ(server.requests[1]->ends, "complete;");
  Request& trailed = *server.requests[2];
  server.answerHead(trailed, false);
  const uint32_t head = trailed.meter.header_sent;
  trailed.stream->sendData("0123456789abcde", false);
  HeaderMap trailers;
  trailers.add(HeaderId::Other, "x-t", "1");
  trailed.stream->sendTrailers(&trailers);
  EXPECT_EQ(trailed.ends, "composed;");
  server.send(windowUpdate(5, 100));
  EXPECT_EQ(trailed.ends, "composed;complete;");
  EXPECT(trailed.meter.header_sent > head);
}

TEST("who does not take all of an answer ends it by leaving, as does waiting for too long") {
  H2Server server(defaultOptions(), {.flush_timeout_ms = 20});
  server.answers = false;
  server.begin(setting(4, 10));
  const std::string body(20, 'x');
  server.send(server.gets({1, 3}));
  server.answer(*server.requests[0], body);
  server.answer(*server.requests[1], body);
  server.send(rstStream(1, ErrorCode::Cancel));
  EXPECT(server.requests[0]->told.ends_with("!http2.remote_reset"));
  EXPECT_EQ(server.requests[0]->ends, "composed;");
  pass(server.loop, 40);
  EXPECT_EQ(server.requests[1]->ends, "composed;dropped;");
  EXPECT_EQ(server.counted(Counter::TxFlushTimeout), 1u);
  // A request that is not whole is over with its answer.
  server.send(server.post(5));
  server.answer(*server.requests[2], body);
  EXPECT_EQ(server.requests[2]->ends, "complete;");
}

TEST("an end that comes by itself, behind what has to wait, lets nothing stay that was gathered") {
  H2Server server;
  server.answers = false;
  server.begin(setting(4, 5000));
  server.send(server.get(1));
  Request& request = *server.requests[0];
  server.answerHead(request, false);
  request.stream->flush();
  const std::string body(6000, 'x');
  request.stream->sendData(body, false);
  EXPECT(server.hasGathered());
  request.stream->sendData({}, true);
  EXPECT(!server.hasGathered());
  server.read();
  EXPECT_EQ(server.frames.data_bytes, 5000u);
  EXPECT_EQ(server.send(windowUpdate(1, 1000)).back(), '.');
  EXPECT_EQ(server.frames.data_bytes, 6000u);
}

TEST("the connection's window holds all streams, which share what comes") {
  H2Server server;
  server.answers = false;
  server.begin(setting(4, 1 << 20));
  server.send(server.gets({1, 3}));
  const std::string body(100'000, 'x');
  server.answer(*server.requests[0], body);
  server.answer(*server.requests[1], body);
  server.read();
  EXPECT_EQ(server.frames.data_bytes, 65535u);
  const std::string told = server.send(windowUpdate(0, 40'000));
  EXPECT(told.find("DATA 1 ") != std::string::npos);
  EXPECT(told.find("DATA 3 ") != std::string::npos);
  server.send(windowUpdate(0, 1'000'000));
  EXPECT_EQ(server.frames.data_bytes, 200'000u);
}

TEST("a window is given back as bytes are used up, and not while nobody reads") {
  plan::Http2Options options = defaultOptions();
  options.stream_window_bytes = 65535;
  options.connection_window_bytes = 65535;
  H2Server server(options);
  server.begin();
  server.send(server.post(1));
  const std::string part(16'000, 'x');
  EXPECT_EQ(server.send(dataFrame(1, part, false) + dataFrame(1, part, false)), "");
  EXPECT_EQ(server.send(dataFrame(1, part, false)), "WINDOW 1 48000 WINDOW 0 48000");
  server.requests[0]->stream->pauseReading();
  EXPECT_EQ(server.send(dataFrame(1, part, false) + dataFrame(1, part, false) +
                        dataFrame(1, part, false)),
            "");
  server.requests[0]->stream->resumeReading();
  EXPECT_EQ(server.read(), "WINDOW 1 48000 WINDOW 0 48000");
  EXPECT_EQ(server.requests[0]->bytes, 96'000u);
}

TEST("what nobody will read of a request that is reset leaves its room to others at once") {
  plan::Http2Options options = defaultOptions();
  options.stream_window_bytes = 65535;
  options.connection_window_bytes = 65535;
  H2Server server(options);
  server.answers = false;
  server.begin();
  server.send(server.post(1));
  server.send(server.post(3));
  server.requests[0]->stream->pauseReading();
  const std::string part(16'000, 'x');
  for (int i = 0; i < 4; ++i) EXPECT_EQ(server.send(dataFrame(1, part, false)), "");
  server.answer(*server.requests[0], "no");
  std::string answer = server.read();
  pass(server.loop, 5);
  if (const std::string rest = server.read(); !rest.empty()) answer += " " + rest;
  EXPECT_EQ(answer, "HEADERS 1 :status=200; DATA 1 no. RST 1 0 WINDOW 0 64000");
}

TEST("who sends more than its window is not served any more") {
  plan::Http2Options options = defaultOptions();
  options.stream_window_bytes = 10;
  H2Server server(options);
  server.begin();
  server.send(server.post(1));
  EXPECT_EQ(server.send(dataFrame(1, "0123456789a", false)), "RST 1 3");
}

TEST("an answer before the end of its request resets the rest of it, which is ignored") {
  H2Server server;
  server.answers = false;
  server.begin();
  server.send(server.post(1));
  server.answer(*server.requests[0], "no");
  // The reset comes when nothing more is read at once: on a busy machine that may be with the
  // answer.
  const std::string answer = server.read();
  pass(server.loop, 5);
  const std::string rest = server.read();
  EXPECT_EQ(rest.empty() ? answer : answer + " " + rest,
            "HEADERS 1 :status=200; DATA 1 no. RST 1 0");
  EXPECT_EQ(server.send(dataFrame(1, "late", true)), "");
  EXPECT_EQ(server.send(server.get(3)), "");
  EXPECT_EQ(server.requests.size(), 2u);
}

TEST("a client resets a stream, and the others go on") {
  H2Server server;
  server.answers = false;
  server.begin();
  server.send(server.gets({1, 3}));
  EXPECT_EQ(server.send(rstStream(1, ErrorCode::Cancel)), "");
  EXPECT_EQ(server.requests[0]->told, "GET / a!http2.remote_reset");
  server.answer(*server.requests[1], "ok");
  EXPECT_EQ(server.read(), "HEADERS 3 :status=200; DATA 3 ok.");
  // Without an error, once it has asked for all: no word of why.
  server.send(server.get(5));
  server.send(server.post(7));
  server.send(rstStream(5, ErrorCode::NoError) + rstStream(7, ErrorCode::NoError));
  EXPECT_EQ(server.requests[2]->told, "GET / a!");
  EXPECT_EQ(server.requests[3]->told, "POST / a!http2.remote_reset");
}

TEST("padding, priorities and unknown frames change nothing") {
  H2Server server;
  server.begin();
  const std::string block = server.blocks.block(H2Server::request("POST", "/", {}));
  const auto all = static_cast<uint8_t>(flags::kEndHeaders | flags::kPadded | flags::kPriority);
  const std::string head = std::string("\x03", 1) + number32(0) + "\x10" + block + "pad";
  EXPECT_EQ(server.send(frame(FrameType::Headers, all, 1, head) +
                        frame(static_cast<FrameType>(0xf), 0, 1, "what") +
                        frame(FrameType::Priority, 0, 7, number32(3) + "\x10") +
                        frame(FrameType::Data, flags::kPadded | flags::kEndStream, 1,
                              std::string("\x05", 1) + "data" + "12345")),
            kAnswer);
  EXPECT_EQ(server.requests[0]->told, "POST / a{data}{}");
}

TEST("a head may come in CONTINUATION frames, and nothing between them") {
  H2Server server;
  server.begin();
  const std::string block = server.blocks.block(H2Server::request("GET", "/", {{"x", "y"}}));
  EXPECT_EQ(server.send(frame(FrameType::Headers, flags::kEndStream, 1, block.substr(0, 3)) +
                        frame(FrameType::Continuation, 0, 1, block.substr(3, 4)) +
                        frame(FrameType::Continuation, flags::kEndHeaders, 1, block.substr(7))),
            kAnswer);
  EXPECT_EQ(server.send(frame(FrameType::Headers, flags::kEndStream, 3, "\x82") +
                        frame(FrameType::Ping, 0, 0, "12345678")),
            "GOAWAY 3 1");
}

TEST("what is wrong with a block shows before it has ended, and however it is cut") {
  const auto begin = [](const TestFields& more, const std::function<void(H2Server&)>& check) {
    for (const size_t piece : {1u, 7u, 1000u}) {
      H2Server server;
      server.begin();
      const std::string block = server.blocks.block(H2Server::request("GET", "/", more));
      std::string all;
      for (size_t at = 0; at < block.size(); at += piece) {
        const FrameType type = at == 0 ? FrameType::Headers : FrameType::Continuation;
        all += frame(type, at == 0 ? flags::kEndStream : 0, 1, block.substr(at, piece));
      }
      EXPECT_EQ(server.send(all), "");
      check(server);
    }
  };
  begin({{"X-Up", "v"}}, [](H2Server& server) {
    EXPECT(server.told.starts_with("broken http2.invalid.header.field;"));
    EXPECT_EQ(server.counted(Counter::RxMessagingError), 1u);
  });
  begin({}, [](H2Server& server) {
    EXPECT_EQ(server.told, "");
    EXPECT_EQ(server.requests.size(), 0u);
    EXPECT_EQ(server.send(frame(FrameType::Continuation, 0, 1, "\xfe")), "GOAWAY 1 9");
    EXPECT_EQ(server.requests.size(), 1u);
  });
  // A block may not end amid a field.
  begin({}, [](H2Server& server) {
    EXPECT_EQ(server.send(frame(FrameType::Continuation, flags::kEndHeaders, 1,
                                std::string_view("\x00\x02"
                                                 "a",
                                                 3))),
              "GOAWAY 1 9");
  });
}

TEST("a name or value that is longer than may be is no HPACK") {
  plan::Http2Options options = defaultOptions();
  options.max_header_field_bytes = 100;
  H2Server server(options);
  server.begin();
  EXPECT_EQ(server.send(server.get(1, "/", {{"x", std::string(160, 'a')}})), kAnswer);
  EXPECT_EQ(server.send(server.get(3, "/", {{"x", std::string(161, '"')}})), "GOAWAY 3 9");
}

TEST("frames that break the rules of a stream that is open end the connection") {
  const auto ended = [](const std::function<std::string(H2Server&)>& frames) {
    H2Server server;
    server.answers = false;
    server.begin();
    server.send(server.get(1));
    const std::string told = server.send(frames(server));
    return told + "|" + server.told + "|" + server.requests[0]->told;
  };
  EXPECT_EQ(ended([](H2Server&) { return windowUpdate(1, 0); }),
            "|broken http2.unknown.nghttp2.error;|GET / a!http2.unknown.nghttp2.error");
  EXPECT_EQ(ended([](H2Server&) { return frame(FrameType::PushPromise, 4, 1, number32(2)); }),
            "|broken http2.unknown.nghttp2.error;|GET / a!http2.unknown.nghttp2.error");
  EXPECT_EQ(ended([](H2Server& server) { return server.get(1); }),
            "|broken http2.unknown.nghttp2.error;|GET / a!http2.unknown.nghttp2.error");
  const std::string another = "|GET / a!codec_error:The_user_callback_function_failed";
  EXPECT_EQ(ended([](H2Server&) { return dataFrame(1, "a", true); }),
            "GOAWAY 1 5|broken http2.stream_closed;" + another);
  EXPECT_EQ(ended([](H2Server&) { return frame(FrameType::Priority, 0, 1, "four"); }),
            "GOAWAY 1 6|broken http2.frame_size_error;" + another);
  // A request that depends on itself is none.
  EXPECT_EQ(ended([](H2Server& server) {
              const auto all =
                  static_cast<uint8_t>(flags::kEndHeaders | flags::kPriority | flags::kEndStream);
              const std::string block = server.blocks.block(H2Server::request("GET", "/", {}));
              return frame(FrameType::Headers, all, 3, number32(3) + "\x10" + block);
            }),
            "|broken http2.depends_on_itself;" + another);
}

TEST("a drain tells the client twice: first that it will be so, then which streams were the last") {
  H2Server server(defaultOptions(), {.delayed_close_ms = 20});
  server.answers = false;
  server.begin();
  server.send(server.get(1));
  server.session->endAfter(30);
  EXPECT_EQ(server.read(), "GOAWAY 2147483647 0");
  server.send(server.get(3));
  pass(server.loop, 40);
  EXPECT_EQ(server.read(), "GOAWAY 3 0");
  EXPECT_EQ(server.send(server.get(5)), "");
  EXPECT_EQ(server.requests.size(), 2u);
  server.answer(*server.requests[0], "1");
  server.answer(*server.requests[1], "3");
  EXPECT_EQ(server.read(), "HEADERS 1 :status=200; DATA 1 1. HEADERS 3 :status=200; DATA 3 3.");
  pass(server.loop, 40);
  EXPECT_EQ(server.told, "delayed close timeout;closed;");
}

TEST("the last answer of a drained client leaves whole, also where its end is not waited for") {
  H2Server server(defaultOptions(), {.delayed_close_ms = 0});
  server.answers = false;
  server.begin();
  server.send(server.get(1));
  server.session->endAfter(10);
  pass(server.loop, 20);
  EXPECT_EQ(server.read(), "GOAWAY 2147483647 0 GOAWAY 1 0");
  Request& request = *server.requests[0];
  server.answerHead(request, false);
  request.stream->flush();
  EXPECT_EQ(server.read(), "HEADERS 1 :status=200;");
  request.stream->sendData(std::string(6000, 'x'), true);
  server.read();
  EXPECT_EQ(server.frames.data_bytes, 6000u);
  EXPECT_EQ(server.told, "closed;");
}

TEST("a client that was idle for too long is drained") {
  H2Server server(defaultOptions(), {.delayed_close_ms = 0, .idle_timeout_ms = 20});
  server.begin();
  server.send(server.get(1));
  pass(server.loop, 60);
  EXPECT_EQ(server.read(), "GOAWAY 2147483647 0 GOAWAY 1 0");
  EXPECT_EQ(server.told, "idle;closed;");
}

TEST("pings ask whether a client is there, and end the connection of one that is not") {
  plan::Http2Options options = defaultOptions();
  options.ping_interval_ms = 20;
  options.ping_timeout_ms = 30;
  H2Server server(options);
  server.answers = false;
  server.begin();
  server.send(server.get(1));
  pass(server.loop, 25);
  EXPECT_EQ(server.read(), "PING");
  server.send(frame(FrameType::Ping, flags::kAck, 0, "12345678"));
  pass(server.loop, 25);
  EXPECT_EQ(server.read(), "PING");
  pass(server.loop, 35);
  EXPECT_EQ(server.counted(Counter::KeepaliveTimeout), 1u);
  EXPECT_EQ(server.told, "closed;");
  EXPECT_EQ(server.requests[0]->told, "GET / a!http2_ping_timeout");
}

}  // namespace fairlead::http2
