#include <unistd.h>

#include "test/native/http/http1/served_client.h"

namespace fairlead::http1 {

RAW_TEST("An upload is read in shares, one in each turn of the worker") {
  Server server;
  settle(server.loop);
  server.peer.write("POST /upload HTTP/1.1\r\nhost: a\r\ncontent-length: 10000000\r\n\r\n");
  const size_t waiting = server.peer.fill();
  server.loop.turn(0);
  EXPECT(server.told.size() > net::Connection::kTurnBytes / 2);
  EXPECT(server.told.size() <= net::Connection::kTurnBytes);
  settle(server.loop);
  EXPECT(server.told.size() >= waiting);
}

RAW_TEST(
    "A client's reset is noticed when reading pauses after it, with bytes of the upload left") {
  Server server;
  settle(server.loop);
  server.peer.write("POST /upload HTTP/1.1\r\nhost: a\r\ncontent-length: 10000000\r\n\r\n");
  server.peer.fill();
  // With something unread the end is a reset.
  FL_CHECK(::write(server.socket->fd(), "x", 1) == 1);
  server.peer.close();
  server.loop.turn(0);
  EXPECT(!server.told.ends_with("closed by peer;"));
  server.socket->pauseReading();
  settle(server.loop);
  EXPECT(server.told.ends_with("closed by peer;"));
}

TEST("a connection serves one request after another") {
  Server server;
  server.on_complete = [&] { server.answer("ok"); };
  EXPECT_EQ(server.send(get("/a")), kOk);
  EXPECT_EQ(server.send(get("/b")), kOk);
  EXPECT_EQ(server.told, "GET /a;GET /b;");
  EXPECT_EQ(server.bytes_received, get("/a").size() * 2);
  EXPECT_EQ(server.bytes_sent, std::string_view(kOk).size() * 2);
}

TEST("pipelined requests are answered in order, each after the one before") {
  Server server;
  EXPECT_EQ(server.send(get("/a") + get("/b") + get("/c").substr(0, 10)), "");
  EXPECT_EQ(server.told, "GET /a;");
  server.answer("ok");
  // Not inside of whoever answers.
  EXPECT_EQ(server.told, "GET /a;");
  settle(server.loop);
  EXPECT_EQ(server.told, "GET /a;GET /b;");
  EXPECT_EQ(server.peer.read(), kOk);
  server.answer("ok");
  EXPECT_EQ(server.told, "GET /a;GET /b;");
  server.send(get("/c").substr(10));
  EXPECT_EQ(server.told, "GET /a;GET /b;GET /c;");
}

TEST("requests that are answered at once are all served from one read") {
  Server server;
  server.on_complete = [&] { server.answer("ok"); };
  std::string requests, answers;
  for (int i = 0; i < 500; ++i) {
    requests += get("/");
    answers += kOk;
  }
  EXPECT_EQ(server.send(requests), answers);
}

TEST("what came with a request that was answered at once counts as the next one's as well") {
  Server server;
  std::vector<uint64_t> counted;
  server.on_complete = [&] {
    counted.push_back(server.meter.wire_received);
    server.meter = {};
    server.answer("ok");
  };
  const size_t one = get("/").size();
  server.send(get("/") + get("/") + get("/"));
  EXPECT_EQ(counted.size(), 3u);
  if (test::isRough()) {
    // What is read in parts has less with it.
    for (const uint64_t bytes : counted) EXPECT(bytes >= one && bytes <= 3 * one);
    return;
  }
  EXPECT(counted == (std::vector<uint64_t>{3 * one, 2 * one, one}));
}

TEST("a head that comes byte by byte is the same request") {
  Server server;
  server.on_complete = [&] { server.answer("ok"); };
  const std::string head =
      "\r\n\r\nPOST /a HTTP/1.1\r\nhost: a\r\nx-f: a\r\n b\r\ncontent-length: 3\r\n\r\nxyz";
  std::string answer;
  for (const char c : head) answer += server.send({&c, 1});
  EXPECT_EQ(server.told, "POST /a{xyz};");
  EXPECT_EQ(answer, kOk);
}

TEST("a head of many crumbs costs about as much as a whole one") {
  Server server({.limits = {.max_head_bytes = 8 << 20, .max_headers = 1000}});
  std::string line = "x: a\r\n";
  server.send("GET / HTTP/1.1\r\nhost: a\r\n" + line);
  const uint64_t begin_us = net::Loop::readClockMicros();
  // 20,000 folded lines: looked at again at each, they would take half a minute.
  for (int i = 0; i < 20'000; ++i) {
    server.peer.write(" 1234567890 1234567890 1234567890 1234567890\r\n");
    server.loop.turn(0);
  }
  server.send("\r\n");
  EXPECT(server.told.starts_with("GET /;"));
  EXPECT(net::Loop::readClockMicros() - begin_us < 3'000'000);
}

TEST("a head over its limit is refused before its end, and the rest is thrown away") {
  Server server({.limits = {.max_head_bytes = 1000}});
  EXPECT_EQ(server.send("GET / HTTP/1.1\r\nhost: a\r\nx: " + std::string(900, 'a')), "");
  EXPECT(server.send(std::string(100, 'a')).starts_with("HTTP/1.1 431 "));
  server.send(std::string(5000, 'a') + "\r\n\r\n" + get("/b"));
  EXPECT_EQ(server.told, "error 431 http1.headers_too_large;");
}

TEST("a broken head is answered, and the connection waits for the client to close it") {
  Server server({.delayed_close_ms = 300});
  EXPECT(server.send("nonsense\r\n\r\n").starts_with("HTTP/1.1 400 Bad Request\r\n"));
  EXPECT(!server.peer.hasEnded());
  pass(server.loop, 305);
  EXPECT(server.peer.hasEnded());
  EXPECT_EQ(server.told, "error 400 http1.codec_error;delayed close timeout;closed;");
}

TEST("a host that no authority may be is refused with the head") {
  Server server;
  server.send("GET / HTTP/1.1\r\nhost: a b\r\n\r\n");
  EXPECT_EQ(server.told, "error 400 http.invalid_authority;");
}

TEST("a target's faults come before the version's") {
  Server wrong;
  wrong.send("GET nopath HTTP/1.0\r\n\r\n");
  EXPECT_EQ(wrong.told, "error 400 http1.codec_error;");
  Server old;
  old.send("GET / HTTP/1.0\r\nhost: a\r\n\r\n");
  EXPECT_EQ(old.told, "error 426 low_version;");
}

TEST("HTTP/1.0 is served where it is accepted, and a body without length ends the connection") {
  Server server({.accept_http_10 = true, .delayed_close_ms = 20});
  server.on_complete = [&] {
    http::ResponseOut out = server.headOf(200);
    server.stream->sendHead(out, false);
    server.stream->sendData("body", true);
  };
  EXPECT_EQ(server.send("GET / HTTP/1.0\r\n\r\n"), "HTTP/1.0 200 OK\r\n\r\nbody");
  pass(server.loop, 60);
  EXPECT(server.peer.hasEnded());
  EXPECT_EQ(server.told, "GET /;delayed close timeout;closed;");
}

TEST("a chunked request is told as its data; trailers only where they are enabled") {
  const std::string request =
      "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n"
      "2\r\nab\r\n3;x\r\ncde\r\n0\r\nX-T: 1\r\n\r\n";
  Server off;
  off.on_complete = [&] { off.answer("ok"); };
  EXPECT_EQ(off.send(request + get("/b")), std::string(kOk) + kOk);
  EXPECT_EQ(off.told, "POST /{abcde};GET /b;");
  Server on({.enable_trailers = true});
  on.on_complete = [&] { on.answer("ok"); };
  for (const char c : request) on.send({&c, 1});
  EXPECT_EQ(on.told, "POST /{abcde}<x-t>;");
}

TEST("a body, or trailers, that break their coding are told to their stream") {
  const std::string head = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n";
  Server waiting;
  waiting.send(head + "zz\r\n");
  EXPECT_EQ(waiting.told, "POST /broken 400 http1.codec_error;");
  Server trailers;
  trailers.send(head + "0\r\nbad trailer\r\n\r\n");
  EXPECT_EQ(trailers.told, "POST /broken 400 http1.codec_error;");
}

TEST("an answer is chunked where it has no length, with its trailers if they are enabled") {
  Server server({.enable_trailers = true});
  const auto trailers = std::make_unique<HeaderMap>();
  trailers->add(HeaderId::Other, "x-t", "1");
  const std::string large(2000, 'b');
  server.on_complete = [&] {
    server.stream->sendHead(server.headOf(200), false);
    server.stream->sendData("hello", false);
    server.stream->flush();
    server.stream->sendData(large, false);
    server.stream->sendTrailers(trailers.get());
  };
  EXPECT_EQ(server.send(get("/")),
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n7d0\r\n" + large +
                "\r\n0\r\nx-t: 1\r\n\r\n");
}

TEST("an answer to HEAD has the framing headers and no body") {
  Server server;
  server.on_complete = [&] {
    http::ResponseOut out = server.headOf(200);
    server.stream->sendHead(out, true);
  };
  EXPECT_EQ(server.send("HEAD / HTTP/1.1\r\nhost: a\r\n\r\n"),
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
  // Whatever a host of HTTP/2, or a filter, sends behind it would be taken for the next answer.
  const auto trailers = std::make_unique<HeaderMap>();
  trailers->add(HeaderId::Other, "x-t", "1");
  server.on_complete = [&] {
    server.stream->sendHead(server.headOf(200), false);
    server.stream->sendData("hello", false);
    server.stream->sendTrailers(trailers.get());
  };
  EXPECT_EQ(server.send("HEAD / HTTP/1.1\r\nhost: a\r\n\r\n"),
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
  server.on_complete = [&] { server.answer("ok"); };
  EXPECT_EQ(server.send(get("/")), kOk);
}

TEST("100 Continue goes out before the body is read") {
  Server server;
  server.on_head = [&] { server.stream->sendInformational(100, nullptr); };
  server.on_complete = [&] { server.answer("ok"); };
  EXPECT_EQ(server.send(
                "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\nexpect: 100-continue\r\n\r\n"),
            "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(server.send("ab"), kOk);
}

RAW_TEST("an answer that closes ends the connection; what was pipelined behind it is not served") {
  Server server;
  server.send(get("/a") + get("/b"));
  server.answer("ok", true);
  EXPECT_EQ(server.peer.read(),
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok");
  EXPECT(server.peer.hasEnded());
  EXPECT_EQ(server.told, "GET /a;closed;");
}

TEST("an answer before the request is read whole lingers until the client closes") {
  Server server({.delayed_close_ms = 1000});
  server.on_head = [&] { server.answer("ok"); };
  EXPECT_EQ(server.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\nab"),
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok");
  server.send(std::string(50'000, 'x'));
  EXPECT_EQ(server.told, "POST /");
  server.peer.close();
  settle(server.loop);
  EXPECT_EQ(server.told, "POST /closed by peer;");
}

TEST(
    "a client that asked for the end is waited for where it was answered in a read of its "
    "request") {
  for (const std::string_view framing :
       {"content-length: 2\r\n\r\nab", "transfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"}) {
    const std::string request =
        "POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n" + std::string(framing);
    Server at_end({.delayed_close_ms = 1000});
    at_end.on_complete = [&] { at_end.answer("ok"); };
    at_end.send(request);
    EXPECT(!at_end.peer.hasEnded());

    Server later({.delayed_close_ms = 1000});
    later.send(request);
    later.answer("ok");
    settle(later.loop);
    EXPECT(later.peer.hasEnded());
  }
}

TEST("whose answer began before its request ended is waited for if it did not ask for the end") {
  for (const bool asks : {true, false}) {
    Server server({.delayed_close_ms = 1000});
    server.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n" +
                std::string(asks ? "connection: close\r\n\r\nab" : "\r\nab"));
    http::ResponseOut head = server.headOf(200);
    head.headers->add(HeaderId::ContentLength, "content-length", "2");
    server.sendHead(head, false);
    server.send("cd");
    server.stream->sendData("ok", true);
    settle(server.loop);
    EXPECT_EQ(server.peer.hasEnded(), asks);
  }
}

TEST("an answer of HTTP/1.0 without a length ends its connection at once, with or without a body") {
  for (const bool has_body : {true, false}) {
    Server server({.accept_http_10 = true, .delayed_close_ms = 1000});
    server.send("POST / HTTP/1.0\r\nconnection: keep-alive\r\ncontent-length: 4\r\n\r\nab");
    http::ResponseOut head = server.headOf(200);
    server.sendHead(head, !has_body);
    if (has_body) server.stream->sendData("ok", true);
    settle(server.loop);
    EXPECT(server.peer.read().find("connection: close\r\n") != std::string::npos);
    EXPECT(server.peer.hasEnded());
  }
}

TEST("a client that leaves while it is being answered resets its request") {
  Server server;
  server.send(get("/a"));
  server.peer.close();
  settle(server.loop);
  EXPECT_EQ(server.told, "GET /a;reset downstream_remote_disconnect;closed by peer;");
}

TEST("a client that closes its writing side has left, as for the real server") {
  Server server;
  server.send(get("/a"));
  server.peer.endWriting();
  settle(server.loop);
  EXPECT_EQ(server.told, "GET /a;reset downstream_remote_disconnect;closed by peer;");
  EXPECT(server.peer.hasEnded());
}

RAW_TEST(
    "requests that came before the client closed its writing side are still answered at once") {
  Server server;
  server.on_complete = [&] { server.answer("ok"); };
  server.peer.write(get("/a") + get("/b"));
  server.peer.endWriting();
  settle(server.loop);
  EXPECT_EQ(server.told, "GET /a;GET /b;closed by peer;");
  EXPECT_EQ(server.peer.read(), std::string(kOk) + kOk);
}

TEST("a paused request is not read on, and goes on when it is resumed") {
  Server server;
  server.on_head = [&] { server.stream->pauseReading(); };
  server.on_complete = [&] { server.answer("ok"); };
  server.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nab");
  server.send("cd");
  EXPECT_EQ(server.told, "POST /{ab}");
  server.stream->resumeReading();
  settle(server.loop);
  EXPECT_EQ(server.told, "POST /{abcd};");
  EXPECT_EQ(server.peer.read(), kOk);
}

TEST("a request that ends paused does not stop the next one") {
  Server server;
  server.on_head = [&] { server.stream->pauseReading(); };
  server.on_complete = [&] { server.answer("ok"); };
  EXPECT_EQ(server.send(get("/a") + get("/b")), std::string(kOk) + kOk);
  EXPECT_EQ(server.send(get("/c")), kOk);
}

TEST("a client that takes no answers is told no more requests until it does") {
  Server server({}, 64 * 1024);
  const std::string body(8000, 'b');
  server.on_complete = [&] { server.answer(body); };
  std::string requests;
  for (int i = 0; i < 300; ++i) requests += get("/");
  server.peer.write(requests);
  settle(server.loop);
  const size_t told = server.told.size();
  EXPECT(told < 150 * 6);
  EXPECT(server.socket->pendingBytes() < 80 * 1024);
  size_t got = 0;
  for (int i = 0; i < 200; ++i) {
    got += server.peer.read().size();
    settle(server.loop);
  }
  EXPECT_EQ(server.told.size(), 300u * 6);
  EXPECT_EQ(got, 300 * (std::string_view("HTTP/1.1 200 OK\r\ncontent-length: 8000\r\n\r\n").size() +
                        8000));
}

TEST("over the high watermark the stream hears of it when the client has taken enough") {
  Server server({}, 64 * 1024);
  const std::string body(1 << 20, 'b');
  server.on_complete = [&] {
    server.stream->sendHead(server.headOf(200), false);
    server.stream->sendData(body, false);
    server.stream->flush();
  };
  server.peer.write(get("/"));
  settle(server.loop);
  EXPECT(server.stream->isOverHighWatermark());
  EXPECT_EQ(server.writable, 0);
  for (int i = 0; i < 50; ++i) {
    server.peer.read();
    settle(server.loop);
  }
  EXPECT(!server.stream->isOverHighWatermark());
  EXPECT(server.writable > 0);
}

TEST("a slow client gets the last answer whole, however long the delayed close is") {
  Server server({.delayed_close_ms = 400});
  const std::string body(6 << 20, 'b');
  server.peer.write(get("/"));
  settle(server.loop);
  server.answer(body, true);
  size_t got = 0;
  for (int i = 0; i < 400 && !server.closed; ++i) {
    got += server.peer.read().size();
    pass(server.loop, 25);
  }
  got += server.peer.read().size();
  EXPECT(got > body.size());
  EXPECT_EQ(server.told, "GET /;closed;");
}

TEST("a client that takes nothing of the last answer is given up after the delayed close") {
  Server server({.delayed_close_ms = 20});
  server.on_complete = [&] { server.answer(std::string(3 << 20, 'b'), true); };
  server.peer.write(get("/"));
  settle(server.loop);
  pass(server.loop, 50);
  EXPECT_EQ(server.told, "GET /;delayed close timeout;closed;");
}

TEST("an idle connection times out, one with a request does not") {
  Server server({.idle_timeout_ms = 30});
  server.send(get("/a"));
  pass(server.loop, 50);
  EXPECT_EQ(server.told, "GET /a;");
  server.answer("ok");
  pass(server.loop, 50);
  EXPECT_EQ(server.told, "GET /a;idle timeout;closed;");
}

TEST(
    "a client that leaves inside a head is told of as a request, once; between requests it is "
    "not") {
  for (const char* part : {"G", "\r\n", "GET / HTTP/1.1\r\nhost: a\r\n"}) {
    Server server;
    server.send(get("/a"));
    server.answer("ok");
    server.send(part);
    server.peer.close();
    settle(server.loop);
    EXPECT_EQ(server.told, "GET /a;head reset;closed by peer;");
  }
  Server server;
  server.send(get("/a"));
  server.answer("ok");
  server.peer.close();
  settle(server.loop);
  EXPECT_EQ(server.told, "GET /a;closed by peer;");
}

RAW_TEST("a client that begins as HTTP/2 does is left to that, with all its bytes") {
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  const std::string settings("\0\0\0\4\0\0\0\0\0", 9);
  // Its first words tell.
  for (const size_t cut : {preface.size(), size_t{12}, size_t{18}}) {
    Server server({.detects_http2 = true});
    server.send(preface.substr(0, cut));
    EXPECT_EQ(server.told, "HTTP/2 " + std::to_string(cut) + ";");
  }
  for (const size_t cut : {size_t{1}, size_t{3}, size_t{11}}) {
    Server server({.detects_http2 = true});
    server.send(preface.substr(0, cut));
    EXPECT_EQ(server.told, "");
    server.send(preface.substr(cut) + settings);
    EXPECT_EQ(server.told, "HTTP/2 33;");
  }
  Server http1;
  http1.send(preface);
  EXPECT_EQ(http1.told, "error 400 http1.codec_error;");
  // A path of that name is a request's like any other.
  Server path({.detects_http2 = true});
  path.send("PRI * HTTP/1.1\r\nhost: a\r\n\r\n");
  EXPECT_EQ(path.told, "error 400 http1.codec_error;");
  // Only a connection's first bytes can be those of HTTP/2.
  Server late({.detects_http2 = true});
  late.send(get("/a"));
  late.answer("ok");
  late.send(preface);
  EXPECT_EQ(late.told, "GET /a;error 400 http1.codec_error;");
}

TEST("a head has its own time, from its first byte") {
  Server server({.idle_timeout_ms = 1000, .head_timeout_ms = 30});
  pass(server.loop, 40);
  server.send("GET / HTTP/1.1\r\n");
  EXPECT_EQ(server.told, "");
  pass(server.loop, 40);
  EXPECT_EQ(server.told, "head timeout;");
  EXPECT(server.peer.read().starts_with("HTTP/1.1 408 "));
  server.peer.close();
  settle(server.loop);
  EXPECT_EQ(server.told, "head timeout;closed by peer;");
}

RAW_TEST(
    "a connection that is told its end answers what comes before, and what is under way then") {
  Server server({.delayed_close_ms = 20});
  server.send(get("/a"));
  server.connection->endAfter(60);
  server.answer("ok");
  pass(server.loop, 20);
  server.send(get("/b"));
  server.answer("ok");
  EXPECT_EQ(server.told, "GET /a;GET /b;");
  server.send(get("/c"));
  pass(server.loop, 60);
  EXPECT_EQ(server.told, "GET /a;GET /b;GET /c;");
  server.answer("ok");
  pass(server.loop, 60);
  EXPECT_EQ(server.told, "GET /a;GET /b;GET /c;delayed close timeout;closed;");
}

TEST("an idle connection that is told its end closes then, whatever its idle timeout") {
  Server server({.delayed_close_ms = 200, .idle_timeout_ms = 10'000});
  server.connection->endAfter(30);
  pass(server.loop, 60);
  EXPECT_EQ(server.told, "");
  // Its client may have asked just then: it is not reset.
  server.send(get("/late"));
  pass(server.loop, 300);
  EXPECT_EQ(server.told, "delayed close timeout;closed;");
}

RAW_TEST("after a CONNECT bytes are bytes, those that came before it was accepted too") {
  Server server;
  server.send("CONNECT a.test:80 HTTP/1.1\r\nhost: b\r\n\r\nearly");
  EXPECT_EQ(server.told, "CONNECT {early}");
  http::ResponseOut out = server.headOf(200);
  server.stream->sendHead(out, false);
  server.stream->flush();
  settle(server.loop);
  EXPECT_EQ(server.peer.read(), "HTTP/1.1 200 OK\r\n\r\n");
  server.stream->sendData("raw", false);
  server.stream->flush();
  EXPECT_EQ(server.send("more"), "raw");
  EXPECT_EQ(server.told, "CONNECT {earlymore}");
}

}  // namespace fairlead::http1
