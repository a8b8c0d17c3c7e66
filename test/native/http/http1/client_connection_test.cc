#include "test/native/http/http1/connected_host.h"

namespace fairlead::http1 {

TEST("a connection serves one exchange after another") {
  Client client;
  EXPECT_EQ(client.get("/a"), "GET /a HTTP/1.1\r\nhost: a.test\r\n\r\n");
  client.answer("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
  EXPECT_EQ(client.takeTold(), "connected;200done;reusable;{ok};");
  EXPECT_EQ(client.get("/b"), "GET /b HTTP/1.1\r\nhost: a.test\r\n\r\n");
  client.answer("HTTP/1.1 304 Not Modified\r\ncontent-length: 2\r\n\r\n");
  EXPECT_EQ(client.takeTold(), "done;reusable;304;");
}

TEST("an answer that comes byte by byte is the same answer") {
  Client client({.enable_trailers = true});
  client.get();
  const std::string answer =
      "HTTP/1.1 200 OK\r\nx-f: a\r\n b\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nx-t: "
      "1\r\n\r\n";
  for (const char c : answer) client.answer({&c, 1});
  EXPECT_EQ(client.takeTold(), "connected;200{ab}done;reusable;<x-t>;");
}

TEST("an answer's head of many crumbs costs about as much as a whole one") {
  Client client({.limits = {.max_head_bytes = 8 << 20}});
  client.get();
  client.answer("HTTP/1.1 200 OK\r\nx: a\r\n");
  const uint64_t begin_us = net::Loop::readClockMicros();
  for (int i = 0; i < 20'000; ++i) {
    client.peer.write(" 1234567890 1234567890 1234567890 1234567890\r\n");
    client.loop.turn(0);
  }
  client.answer("content-length: 0\r\n\r\n");
  EXPECT_EQ(client.takeTold(), "connected;done;reusable;200;");
  EXPECT(net::Loop::readClockMicros() - begin_us < 3'000'000);
}

TEST("trailers are dropped where they are not enabled") {
  Client client;
  client.get();
  client.answer("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx-t: 1\r\n\r\n");
  EXPECT_EQ(client.takeTold(), "connected;200done;reusable;{};");
}

TEST("any number of 1xx come before the answer") {
  Client client;
  client.get();
  client.answer(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"
      "HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_EQ(client.takeTold(), "connected;(100)(103)done;reusable;204;");
}

TEST("header lines before compression are added up with each head, as the real server does") {
  Client client({.enable_trailers = true});
  client.get();
  client.answer("HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n");
  EXPECT_EQ(client.bytes.header_received, 8u);
  client.answer("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx-t: abc\r\n\r\n");
  EXPECT_EQ(client.bytes.header_received, 8u + 27 + 9);
  EXPECT_EQ(client.bytes.plain_received, 8u + (8 + 27));
}

TEST("an answer to HEAD has no body, whatever it announces") {
  Client client;
  client.get("/", "HEAD");
  client.answer("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n");
  EXPECT_EQ(client.takeTold(), "connected;done;reusable;200;");
}

RAW_TEST("a body without length ends with the connection") {
  Client client;
  client.get();
  client.answer("HTTP/1.0 200 OK\r\n\r\nsome");
  client.answer("more");
  client.peer.close();
  settle(client.loop);
  EXPECT_EQ(client.takeTold(), "connected;200done;closed as notified;{somemore};");
}

TEST("a connection is not used again when either side says close") {
  Client client;
  client.get();
  client.answer("HTTP/1.1 200 OK\r\nConnection: foo, Close\r\ncontent-length: 2\r\n\r\nok");
  EXPECT_EQ(client.takeTold(), "connected;200done;closed close notified;{ok};");
  Client old;
  old.get();
  old.answer("HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok");
  EXPECT_EQ(old.takeTold(), "connected;200done;closed close notified;{ok};");
  Client kept;
  kept.get();
  kept.answer("HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok");
  EXPECT_EQ(kept.takeTold(), "connected;200done;reusable;{ok};");
}

RAW_TEST("bytes behind an answer make the connection useless, and are nobody's") {
  Client client;
  client.get();
  client.answer("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokEXTRA");
  EXPECT_EQ(client.takeTold(), "connected;200done;closed protocol;{ok};");
}

TEST("bytes that nobody asked for end an idle connection") {
  Client client;
  client.answer("HTTP/1.1 200 OK\r\n\r\n");
  EXPECT_EQ(client.takeTold(), "connected;closed protocol;");
}

TEST("a host that closes without a word resets the request; with half an answer it is an error") {
  Client silent;
  silent.get();
  silent.peer.close();
  settle(silent.loop);
  EXPECT_EQ(silent.takeTold(),
            "connected;done;closed peer with stream;reset connection_termination;");
  Client half;
  half.get();
  half.answer("HTTP/1.1 2");
  half.peer.close();
  settle(half.loop);
  EXPECT_EQ(half.takeTold(),
            "connected;done;closed inside with stream;reset by error protocol_error;");
  Client body;
  body.get();
  body.answer("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab");
  body.peer.close();
  settle(body.loop);
  EXPECT_EQ(body.takeTold(),
            "connected;200{ab}done;closed inside with stream;reset by error protocol_error;");
}

TEST("what is no answer is a protocol error") {
  for (const char* answer :
       {"nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\n",
        "HTTP/1.1 204 No\r\ncontent-length: 2\r\n\r\nab", "HTTP/1.1 200 OK\r\nx y: z\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r2\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chu\rnked\r\n\r\n",
        "HTTP/1.1 100 Continue\r\ncontent-length: 0\r\r\n\r\n"}) {
    Client client;
    client.get();
    client.answer(answer);
    EXPECT_EQ(client.takeTold(),
              "connected;done;closed protocol with stream;reset by error protocol_error;");
  }
  Client chunk;
  chunk.get();
  chunk.answer("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n");
  EXPECT_EQ(chunk.takeTold(),
            "connected;200done;closed protocol with stream;reset by error protocol_error;");
}

TEST("a request's body goes out as its head says") {
  Client length;
  length.post(true);
  length.stream->sendData("ab", false);
  length.stream->sendData("cd", true);
  settle(length.loop);
  EXPECT_EQ(length.peer.read(), "POST / HTTP/1.1\r\nhost: a.test\r\ncontent-length: 4\r\n\r\nabcd");
  Client chunked({.enable_trailers = true});
  chunked.post(false);
  chunked.stream->sendData("ab", false);
  const auto trailers = std::make_unique<HeaderMap>();
  trailers->add(HeaderId::Other, "x-t", "1");
  chunked.stream->sendTrailers(trailers.get());
  settle(chunked.loop);
  EXPECT_EQ(chunked.peer.read(),
            "POST / HTTP/1.1\r\nhost: a.test\r\ntransfer-encoding: chunked\r\n\r\n"
            "2\r\nab\r\n0\r\nx-t: 1\r\n\r\n");
}

TEST("a request without a body says so where its method may have one") {
  for (const char* method : {"POST", "PUT", "PATCH", "OPTIONS", "PROPFIND"}) {
    Client client;
    EXPECT_EQ(client.get("/", method),
              std::string(method) + " / HTTP/1.1\r\nhost: a.test\r\ncontent-length: 0\r\n\r\n");
  }
  for (const char* method : {"GET", "HEAD", "DELETE", "TRACE"}) {
    Client client;
    EXPECT_EQ(client.get("/", method), std::string(method) + " / HTTP/1.1\r\nhost: a.test\r\n\r\n");
  }
}

TEST("an answer before the request is sent whole ends the connection") {
  Client client;
  client.post(true);
  client.stream->sendData("ab", false);
  client.stream->flush();
  client.answer("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
  EXPECT_EQ(client.takeTold(), "connected;200done;closed unsent;{ok};");
}

RAW_TEST("an early answer is read although writing to its host failed") {
  Client client;
  client.post(false);
  client.stream->sendData("ab", false);
  client.stream->flush();
  client.peer.write("HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno");
  client.peer.close();
  client.stream->sendData("cd", false);
  client.stream->flush();
  settle(client.loop);
  EXPECT(client.takeTold().find("413") != std::string::npos);
}

RAW_TEST(
    "an early answer is read to its end although writing to its host failed while its reader "
    "paused") {
  Client client;
  client.on_head = [&] { client.stream->pauseReading(); };
  client.post(false);
  client.answer("HTTP/1.1 413 Too Large\r\ncontent-length: 4\r\n\r\nno");
  client.peer.write("w!");
  client.peer.close();
  client.stream->sendData("cd", false);
  client.stream->flush();
  settle(client.loop);
  EXPECT_EQ(client.takeTold(), "connected;413{no}");
  client.stream->resumeReading();
  settle(client.loop);
  EXPECT_EQ(client.takeTold(), "done;closed unsent;{w!};");
}

RAW_TEST("an answer that is spliced goes on although writing to its host failed") {
  Client client;
  client.post(false);
  client.answer("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nno");
  client.stream->rawSource()->begin();
  client.peer.write("w!");
  client.peer.close();
  client.stream->sendData("cd", false);
  client.stream->flush();
  settle(client.loop);
  EXPECT_EQ(client.takeTold(), "connected;200{no}");
  client.stream->rawSource()->onTaken(2);
  EXPECT_EQ(client.takeTold(), "done;closed unsent;");
}

TEST("a 101 that nobody asked for has no body and is the connection's last answer") {
  Client client;
  client.get();
  client.answer("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n");
  EXPECT_EQ(client.takeTold(), "connected;done;closed local;101;");
}

TEST("an HTTP/1.0 answer with a transfer coding is its connection's last") {
  Client client;
  client.get();
  client.answer(
      "HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ntransfer-encoding: chunked\r\n\r\n"
      "2\r\nab\r\n0\r\n\r\n");
  EXPECT_EQ(client.takeTold(), "connected;200done;closed local;{ab};");
}

RAW_TEST("a tunnel is raw until its connection ends, which is no proper end") {
  Client client;
  client.get("a:80", "CONNECT");
  client.answer("HTTP/1.1 200 OK\r\n\r\nraw");
  client.stream->sendData("hello", false);
  client.stream->flush();
  client.answer("more");
  EXPECT_EQ(client.peer.read(), "hello");
  client.peer.close();
  settle(client.loop);
  EXPECT_EQ(client.takeTold(),
            "connected;200{rawmore}done;closed local with stream;reset connection_termination;");
}

TEST("an accepted CONNECT is a tunnel, a refused one an answer") {
  Client accepted;
  accepted.get("a:80", "CONNECT");
  accepted.answer("HTTP/1.1 200 OK\r\n\r\nraw");
  EXPECT_EQ(accepted.takeTold(), "connected;200{raw}");
  Client refused;
  refused.get("a:80", "CONNECT");
  refused.answer("HTTP/1.1 407 No\r\ncontent-length: 2\r\n\r\nno");
  EXPECT_EQ(refused.takeTold(), "connected;407done;reusable;{no};");
}

RAW_TEST("a paused answer waits in the socket, and goes on when it is resumed") {
  Client client;
  client.on_head = [&] { client.stream->pauseReading(); };
  client.get();
  client.answer("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nab");
  client.answer("cd");
  EXPECT_EQ(client.takeTold(), "connected;200{ab}");
  client.stream->resumeReading();
  EXPECT_EQ(client.takeTold(), "");
  settle(client.loop);
  EXPECT_EQ(client.takeTold(), "done;reusable;{cd};");
}

TEST("over the high watermark the sink hears of it when the host has taken enough") {
  Client client({}, 64 * 1024);
  client.post(false);
  const std::string body(1 << 20, 'b');
  client.stream->sendData(body, false);
  client.stream->flush();
  EXPECT(client.stream->isOverHighWatermark());
  for (int i = 0; i < 50; ++i) {
    client.peer.read();
    settle(client.loop);
  }
  EXPECT(!client.stream->isOverHighWatermark());
  EXPECT(client.writable > 0);
}

TEST("a request that waits has the connection once the sink has heard the end of its answer") {
  Client client;
  client.get("/a");
  client.on_serve_waiting = [&] {
    client.told += "next;";
    client.get("/b");
  };
  client.answer("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
  EXPECT_EQ(client.takeTold(), "connected;200done;reusable;{ok};next;");
  client.answer("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
  EXPECT_EQ(client.takeTold(), "done;reusable;200;");
}

TEST("an abandoned exchange closes the connection, and its sink hears nothing") {
  Client client;
  client.get();
  client.stream->reset();
  EXPECT_EQ(client.takeTold(), "connected;done;closed local with stream;");
  EXPECT(client.peer.hasEnded());
}

TEST("an idle connection times out; a busy one does not") {
  Client client({.idle_timeout_ms = 30});
  client.get();
  pass(client.loop, 50);
  client.answer("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
  EXPECT_EQ(client.takeTold(), "connected;done;reusable;200;");
  pass(client.loop, 50);
  EXPECT_EQ(client.takeTold(), "closed idle;");
}

TEST("a connection that is as old as it may be ends: at once when idle, else after its answer") {
  Client idle({.max_duration_ms = 30});
  pass(idle.loop, 50);
  EXPECT_EQ(idle.takeTold(), "connected;closed duration;");
  Client busy({.max_duration_ms = 30});
  busy.get();
  pass(busy.loop, 50);
  EXPECT_EQ(busy.takeTold(), "connected;");
  busy.answer("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
  EXPECT_EQ(busy.takeTold(), "done;closed duration;200;");
}

TEST("a connection ends after as many requests as it may serve") {
  Client client({.max_requests = 2});
  client.get();
  client.answer("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
  client.get();
  client.answer("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
  EXPECT_EQ(client.takeTold(), "connected;done;reusable;200;done;closed requests;200;");
}

RAW_TEST("a large body passes whole, and its bytes are counted") {
  Client client;
  client.get();
  const std::string head = "HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n";
  client.answer(head);
  for (int i = 0; i < 100; ++i) client.answer(std::string(10'000, 'b'));
  EXPECT_EQ(client.takeTold(), "connected;200done;reusable;;");
  EXPECT_EQ(client.body_bytes, 1'000'000u);
  EXPECT_EQ(client.bytes_received, head.size() + 1'000'000);
}

}  // namespace fairlead::http1
