// The TCP relay through a real worker: bytes both ways, each half's end, slow readers, limits.
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>

#include "test/native/support/exchange.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

constexpr uint64_t kMegabyte = 1024 * 1024;

// Bytes that tell where they are in the stream.
std::string pattern(size_t bytes) {
  std::string text(bytes, 0);
  for (size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>((i * 2654435761u) >> 24);
  return text;
}

}  // namespace

TEST("A relay passes bytes both ways, and each half ends when its sender's does") {
  const DescriptorsBalance balance;
  Origin origin([](Socket& socket, int) {
    const std::string all = socket.readAll();
    socket.write("got " + std::to_string(all.size()));
  });
  Proxy proxy(tcpPlan({origin.port()}), 2);
  for (int i = 0; i < 10; ++i) {
    Socket client = proxy.connect();
    client.write(std::string(1000, 'x'));
    client.endWriting();
    EXPECT_EQ(client.readAll(), std::string("got 1000"));
  }
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_cx_total"), 10u);
  proxy.expectQuiet();
  EXPECT_EQ(proxy.stat("tcp.in.downstream_cx_rx_bytes_total"), 10'000u);
  EXPECT_EQ(proxy.stat("tcp.in.downstream_cx_tx_bytes_total"), 80u);
}

TEST("The latest read of either side counts as buffered while its relay is there") {
  Origin origin([](Socket& socket, int) {
    socket.readExactly(3);
    socket.write("hello");
    socket.readAll();
  });
  Proxy proxy(tcpPlan({origin.port()}));
  {
    Socket client = proxy.connect();
    client.write("abc");
    EXPECT_EQ(client.readExactly(5), std::string("hello"));
    // Reads may be cut.
    const auto isShown = [&proxy](const char* name, uint64_t most) {
      return proxy.waitUntil([&] { return proxy.stat(name) > 0 && proxy.stat(name) <= most; });
    };
    EXPECT(isShown("tcp.in.downstream_cx_rx_bytes_buffered", 3));
    EXPECT(isShown("cluster.origin.upstream_cx_rx_bytes_buffered", 5));
  }
  EXPECT(proxy.waitFor("cluster.origin.upstream_cx_rx_bytes_buffered", 0));
}

TEST("Nothing is buffered of a side that has ended, though its relay goes on") {
  std::atomic<bool> is_seen{false};
  Origin origin([&is_seen](Socket& socket, int) {
    socket.readAll();
    while (!is_seen) sleepMs(5);
    socket.write("answer");
  });
  Proxy proxy(tcpPlan({origin.port()}));
  Socket client = proxy.connect();
  client.write("abc");
  EXPECT(proxy.waitUntil([&] { return proxy.stat("tcp.in.downstream_cx_rx_bytes_buffered") > 0; }));
  client.endWriting();
  EXPECT(
      proxy.waitUntil([&] { return proxy.stat("tcp.in.downstream_cx_rx_bytes_buffered") == 0u; }));
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_cx_active"), 1u);
  is_seen = true;
  EXPECT_EQ(client.readAll(), std::string("answer"));
  proxy.expectQuiet();
}

TEST("Large streams arrive whole in both directions at once") {
  const DescriptorsBalance balance;
  const std::string sent = pattern(24 * kMegabyte);
  std::promise<void> origin_has_all;
  Origin origin([&](Socket& socket, int) {
    std::thread writer([&] {
      socket.write(sent);
      socket.endWriting();
    });
    std::string got;
    for (std::string part; !(part = socket.read()).empty();) got += part;
    EXPECT(got == sent);
    writer.join();
    origin_has_all.set_value();
  });
  Proxy proxy(tcpPlan({origin.port()}));
  Socket client = proxy.connect();
  std::thread writer([&] {
    client.write(sent);
    client.endWriting();
  });
  std::string got;
  for (std::string part; !(part = client.read()).empty();) got += part;
  EXPECT_EQ(got.size(), sent.size());
  EXPECT(got == sent);
  writer.join();
  client.close();
  proxy.expectQuiet();
  // The proxy is done before the origin has read what the kernel still holds.
  origin_has_all.get_future().wait();
  EXPECT_EQ(proxy.stat("tcp.in.downstream_cx_tx_bytes_total"), sent.size());
}

TEST("Over connections that were made ahead a relay passes bytes, and each half ends by itself") {
  const DescriptorsBalance balance;
  std::promise<std::string> origin_heard;
  Origin origin([&](Socket& socket, int number) {
    if (number > 0) {
      socket.readAll();
      return;
    }
    socket.write("hello");
    socket.endWriting();
    origin_heard.set_value(socket.readAll());
  });
  plan::Update plan = tcpPlan({origin.port()});
  plan.clusters[0].preconnect_millionths = 1'500'000;
  Proxy proxy(plan);
  {
    Socket client = proxy.connect();
    EXPECT_EQ(client.readAll(), std::string("hello"));
    // The host has ended; its client goes on.
    const std::string sent = pattern(kMegabyte);
    client.write(sent);
    client.endWriting();
    EXPECT(origin_heard.get_future().get() == sent);
  }
  EXPECT(proxy.waitFor("cluster.origin.upstream_rq_active", 0));
  // One waits for the next client.
  EXPECT(proxy.waitFor("cluster.origin.upstream_cx_active", 1));
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_cx_total"), 2u);
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_cx_destroy_remote_with_active_rq"), 1u);
}

TEST("What a slow reader has not taken leaves after both sides have ended") {
  const std::string sent = pattern(8 * kMegabyte);
  Origin origin([&sent](Socket& socket, int) { socket.write(sent); });
  Proxy proxy(tcpPlan({origin.port()}));
  Socket client = proxy.connect(16 * 1024);
  client.endWriting();
  sleepMs(200);
  std::string got;
  for (std::string part; !(part = client.read(50'000)).empty();) got += part;
  EXPECT_EQ(got.size(), sent.size());
  EXPECT(got == sent);
  proxy.expectQuiet();
}

TEST("A client that resets in a large stream ends both sides") {
  const DescriptorsBalance balance;
  Origin origin([](Socket& socket, int) {
    const std::string part(kMegabyte, 'x');
    while (socket.write(part)) {
    }
  });
  Proxy proxy(tcpPlan({origin.port()}), 2);
  for (int i = 0; i < 6; ++i) {
    Socket client = proxy.connect(i % 2 ? 16 * 1024 : 0);
    EXPECT_EQ(client.discard(4 * kMegabyte), 4 * kMegabyte);
    if (i % 3 == 0) sleepMs(20);
    if (i % 2)
      client.reset();
    else
      client.close();
  }
  proxy.expectQuiet();
}

TEST("A host that resets in a large upload ends both sides") {
  Origin origin([](Socket& socket, int number) {
    if (number % 2) sleepMs(30);
    socket.discard(kMegabyte);
    socket.reset();
  });
  Proxy proxy(tcpPlan({origin.port()}));
  for (int i = 0; i < 6; ++i) {
    Socket client = proxy.connect();
    const std::string part(kMegabyte, 'x');
    int sent = 0;
    while (sent < 64 && client.write(part)) ++sent;
    EXPECT(sent < 64);
  }
  proxy.expectQuiet();
}

TEST(
    "What was read of a host before it broke still reaches a slow client, and the other way "
    "round") {
  const DescriptorsBalance balance;
  for (const bool upload : {false, true}) {
    uint64_t sent = 0;
    std::atomic<bool> over{false};
    std::atomic<bool> is_read{false};
    const auto fillAndReset = [&sent](Socket& socket) {
      // Until everything on the way is full.
      socket.setPatience(1000);
      const std::string part(16 * 1024, 'x');
      while (socket.write(part)) sent += part.size();
      socket.reset();
    };
    Origin origin([&](Socket& socket, int) {
      if (upload) {
        while (!over) sleepMs(5);
        uint64_t seen = 0;
        for (std::string got; !(got = socket.read()).empty();) seen += got.size();
        EXPECT(!socket.wasReset());
        EXPECT(seen > kMegabyte);
        is_read = true;
      } else {
        fillAndReset(socket);
        over = true;
      }
    });
    Proxy proxy(tcpPlan({origin.port()}));
    Socket client = proxy.connect(16 * 1024);
    if (upload) {
      fillAndReset(client);
      over = true;
      // An origin that goes while its script still reads has its connections reset.
      EXPECT(proxy.waitUntil([&is_read] { return is_read.load(); }));
    } else {
      while (!over) sleepMs(5);
      sleepMs(50);
      uint64_t seen = 0;
      for (std::string got; !(got = client.read()).empty();) seen += got.size();
      // An end, not a reset, and after what the proxy had.
      EXPECT(!client.wasReset());
      EXPECT(seen > kMegabyte);
      EXPECT_EQ(seen, proxy.stat("tcp.in.downstream_cx_tx_bytes_total"));
    }
    proxy.expectQuiet();
    EXPECT_EQ(proxy.stat("tcp.in.upstream_flush_active"), 0u);
  }
}

TEST("A client that resets while its host is slow ends the session once the host reads on") {
  const DescriptorsBalance balance;
  Origin origin([](Socket& socket, int) {
    sleepMs(1500);
    socket.readAll();
  });
  Proxy proxy(tcpPlan({origin.port()}));
  Socket client = proxy.connect();
  // More than all buffers on the way hold: reading pauses.
  std::thread writer([&] { client.write(std::string(32 * kMegabyte, 'x')); });
  EXPECT(proxy.waitUntil([&] {
    return proxy.stat("tcp.in.downstream_flow_control_paused_reading_total") > 0 ||
           proxy.stat("tcp.in.downstream_cx_rx_bytes_total") > 2 * kMegabyte;
  }));
  sleepMs(100);
  const int fd = client.fd();
  const linger now = {1, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  ::shutdown(fd, SHUT_RDWR);
  writer.join();
  client.close();
  EXPECT(proxy.waitFor("listener.in.downstream_cx_active", 0));
}

TEST("A host that refuses is tried as often as the plan says; then the client is closed") {
  const DescriptorsBalance balance;
  const RefusingPort port;
  plan::Update plan = tcpPlan({port.number()});
  plan.listeners[0].filter_chains[0].tcp->max_connect_attempts = 3;
  Proxy proxy(plan);
  Socket client = proxy.connect();
  EXPECT_EQ(client.readAll(), std::string());
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_cx_connect_fail"), 3u);
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_cx_connect_attempts_exceeded"), 1u);
}

TEST("A connect timeout ends the attempt; a client that leaves meanwhile is no trouble") {
  uint16_t port = 0;
  const net::FileDescriptor deaf = listenOnLoopback(&port, 0);
  plan::Update plan = tcpPlan({port});
  plan.clusters[0].connect_timeout_ms = 60;
  Proxy proxy(plan);
  Socket clients[6];
  for (Socket& client : clients) client = proxy.connect();
  clients[4].reset();
  clients[5].close();
  EXPECT(proxy.waitUntil(
      [&] { return proxy.stat("cluster.origin.upstream_cx_connect_timeout") >= 3; }));
  for (Socket& client : clients) client.close();
}

TEST("Beyond the connection limit a relay closes at once") {
  Origin origin(answering("x"));
  plan::Update plan = tcpPlan({origin.port()});
  plan.clusters[0].limits[0].max_connections = 1;
  Proxy proxy(plan);
  Socket first = proxy.connect();
  EXPECT(proxy.waitFor("cluster.origin.upstream_cx_active", 1));
  Socket second = proxy.connect();
  EXPECT_EQ(second.readAll(), std::string());
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_cx_overflow"), 1u);
  first.close();
  EXPECT(proxy.waitFor("cluster.origin.upstream_cx_active", 0));
  EXPECT(proxy.connect().isOpen());
}

TEST("A relay without traffic ends after its idle timeout, one with traffic does not") {
  Origin origin([](Socket& socket, int) {
    for (std::string got; !(got = socket.read()).empty();) socket.write(got);
  });
  plan::Update plan = tcpPlan({origin.port()});
  plan.listeners[0].filter_chains[0].tcp->idle_timeout_ms = 150;
  Proxy proxy(plan);
  Socket client = proxy.connect();
  for (int i = 0; i < 8; ++i) {
    client.write("x");
    EXPECT_EQ(client.read(), std::string("x"));
    sleepMs(50);
  }
  EXPECT_EQ(client.readAll(), std::string());
  EXPECT_EQ(proxy.stat("tcp.in.idle_timeout"), 1u);
}

TEST("stop() ends relays in every state") {
  const DescriptorsBalance balance;
  Origin origin([](Socket& socket, int number) {
    if (number % 2) socket.write(std::string(20 * kMegabyte, 'x'));
    socket.readAll();
  });
  Proxy proxy(tcpPlan({origin.port()}), 2);
  Socket clients[8];
  for (Socket& client : clients) client = proxy.connect();
  EXPECT(proxy.waitFor("cluster.origin.upstream_cx_active", 8));
  clients[3].endWriting();
  sleepMs(30);
  proxy.stop();
}

}  // namespace fairlead::test
