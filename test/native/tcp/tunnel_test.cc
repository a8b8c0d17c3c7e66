// The TCP relay through tunnels over HTTP/2: one proxy asks for them, another one ends them.
#include <atomic>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>

#include "test/native/http/http2/wire.h"
#include "test/native/support/exchange.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

// Bytes that tell where they are in the stream.
std::string letters(size_t bytes) {
  std::string text(bytes, 0);
  for (size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>((i * 2246822519u) >> 24);
  return text;
}

// CONNECTs over HTTP/2 end here: the origin hears their bytes.
plan::Update endingPlan(uint16_t origin) {
  plan::Update plan = httpPlan({origin});
  plan::Route& route = plan.route_tables[0].virtual_hosts[0].routes[0];
  route.match->path_kind = plan::RouteMatch::PathKind::Connect;
  plan::RouteUpgrade& upgrade = route.cluster->upgrades.emplace_back();
  upgrade.name = "connect";
  upgrade.enabled = true;
  upgrade.connect.emplace();
  plan.listeners[0].filter_chains[0].http->http2 = http2::defaultOptions();
  return plan;
}

// TCP goes to that proxy through tunnels.
plan::Update tunnelingPlan(uint16_t proxy) {
  plan::Update plan = tcpPlan({proxy});
  plan.clusters[0].protocol = plan::Cluster::Protocol::Http2;
  plan.clusters[0].http2 = http2::defaultOptions();
  plan::TunnelingConfig& tunneling = plan.listeners[0].filter_chains[0].tcp->tunneling.emplace();
  plan::FormatPiece& hostname = tunneling.hostname.emplace().pieces.emplace_back();
  hostname.argument = "host:1";
  tunneling.post_path = "/";
  return plan;
}

// The same by CONNECT over HTTP/1.
plan::Update connectingPlan(uint16_t proxy) {
  plan::Update plan = tunnelingPlan(proxy);
  plan.clusters[0].protocol = plan::Cluster::Protocol::Http1;
  return plan;
}

}  // namespace

TEST("Many tunnels share a connection to their host, and each half of one ends by itself") {
  const DescriptorsBalance balance;
  Origin origin([](Socket& socket, int) {
    const std::string all = socket.readAll();
    socket.write("got " + std::to_string(all.size()));
  });
  Proxy far(endingPlan(origin.port()));
  {
    Proxy near(tunnelingPlan(far.port()));
    std::vector<Socket> clients;
    for (int i = 0; i < 10; ++i) {
      clients.push_back(near.connect());
      clients.back().write(std::string(1000, 'x'));
    }
    for (Socket& client : clients) client.endWriting();
    for (Socket& client : clients) EXPECT_EQ(client.readAll(), std::string("got 1000"));
    near.expectQuiet();
    EXPECT_EQ(near.stat("cluster.origin.upstream_cx_total"), 1u);
    EXPECT_EQ(near.stat("cluster.origin.upstream_rq_total"), 10u);
    EXPECT_EQ(near.stat("cluster.origin.upstream_rq_tx_reset"), 0u);
    EXPECT_EQ(near.stat("cluster.origin.http2.tx_reset"), 0u);
    EXPECT_EQ(near.stat("tcp.in.downstream_cx_rx_bytes_total"), 10'000u);
  }
}

TEST("Much arrives whole through a tunnel, in both directions at once") {
  const DescriptorsBalance balance;
  const std::string sent = letters(8 << 20);
  Origin origin([&](Socket& socket, int) {
    // Its end would end the tunnel whole, as one of the real server's does.
    std::thread writer([&] { socket.write(sent); });
    EXPECT(socket.readAll() == sent);
    writer.join();
  });
  Proxy far(endingPlan(origin.port()));
  {
    Proxy near(tunnelingPlan(far.port()));
    Socket client = near.connect();
    std::thread writer([&] {
      client.write(sent);
      client.endWriting();
    });
    EXPECT(client.readAll() == sent);
    writer.join();
    client.close();
    near.expectQuiet();
    EXPECT_EQ(near.stat("tcp.in.downstream_cx_tx_bytes_total"), sent.size());
  }
}

TEST("A client that reads nothing of its tunnel stops its host, and no other tunnel beside it") {
  const DescriptorsBalance balance;
  std::atomic<uint64_t> written{0};
  std::atomic<bool> over{false};
  Origin origin([&](Socket& socket, int number) {
    if (number > 0) {
      socket.write("<" + socket.readExactly(4) + ">");
      return;
    }
    const std::string piece(64 * 1024, 'y');
    for (int i = 0; i < 512 && socket.write(piece); ++i) written += piece.size();
    socket.endWriting();
    over = true;
    socket.readAll();
  });
  Proxy far(endingPlan(origin.port()));
  {
    plan::Update plan = tunnelingPlan(far.port());
    plan.clusters[0].http2->stream_window_bytes = 256 * 1024;
    plan.clusters[0].http2->connection_window_bytes = 1 << 20;
    Proxy near(plan);
    Socket slow = near.connect(32 * 1024);
    EXPECT_EQ(slow.readExactly(1000).size(), 1000u);
    // Until nothing moves any more: what all buffers on the way hold together.
    uint64_t before = 0;
    do {
      before = written;
      sleepMs(50);
    } while (before != written);
    EXPECT(!over);
    EXPECT(written < uint64_t{24} << 20);
    Socket quick = near.connect();
    quick.write("ping");
    EXPECT_EQ(quick.readExactly(6), std::string("<ping>"));
    EXPECT_EQ(slow.discard(UINT64_MAX), uint64_t{512 * 64 * 1024 - 1000});
    slow.close();
    quick.close();
    near.expectQuiet();
    EXPECT(near.stat("cluster.origin.upstream_flow_control_paused_reading_total") > 0);
  }
}

TEST("A tunnel whose host leaves ends after what came; one whose client leaves is reset") {
  const DescriptorsBalance balance;
  std::promise<void> lost;
  Origin origin([&](Socket& socket, int number) {
    socket.write("hello");
    if (number == 0) return;
    EXPECT_EQ(socket.readAll(), std::string());
    lost.set_value();
  });
  Proxy far(endingPlan(origin.port()));
  {
    Proxy near(tunnelingPlan(far.port()));
    Socket first = near.connect();
    EXPECT_EQ(first.readAll(), std::string("hello"));
    first.close();
    Socket second = near.connect();
    EXPECT_EQ(second.readExactly(5), std::string("hello"));
    second.reset();
    lost.get_future().wait();
    near.expectQuiet();
  }
}

TEST("Tunnels that hosts refuse are asked for again as often as may be") {
  const DescriptorsBalance balance;
  Origin origin(answering("no tunnel"));
  plan::Update refusing = httpPlan({origin.port()});
  refusing.listeners[0].filter_chains[0].http->http2 = http2::defaultOptions();
  Proxy far(refusing);
  {
    plan::Update plan = tunnelingPlan(far.port());
    plan.listeners[0].filter_chains[0].tcp->max_connect_attempts = 3;
    Proxy near(plan);
    Socket client = near.connect();
    EXPECT_EQ(client.readAll(), std::string());
    near.expectQuiet();
    EXPECT_EQ(near.stat("cluster.origin.upstream_rq_total"), 3u);
    EXPECT_EQ(near.stat("cluster.origin.upstream_cx_total"), 1u);
    EXPECT_EQ(near.stat("cluster.origin.upstream_cx_connect_attempts_exceeded"), 1u);
  }
}

TEST("Interim answers to a CONNECT over HTTP/1 count, and half an answer is none") {
  const DescriptorsBalance balance;
  const std::string answer = "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\r\nhello";
  Origin origin([&](Socket& socket, int number) {
    socket.readUntil("\r\n\r\n");
    socket.write(number == 0 ? answer : std::string("HTTP/1.1 200 O"));
  });
  Proxy proxy(connectingPlan(origin.port()));
  Socket granted = proxy.connect();
  EXPECT_EQ(granted.readAll(), std::string("hello"));
  granted.close();
  proxy.expectQuiet();
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_cx_rx_bytes_total"), answer.size());
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_cx_protocol_error"), 0u);
  Socket broken = proxy.connect();
  EXPECT_EQ(broken.readAll(), std::string());
  broken.close();
  proxy.expectQuiet();
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_cx_protocol_error"), 1u);
}

TEST("An answer to CONNECT is found behind an interim one that ends in a read of its own") {
  const DescriptorsBalance balance;
  Origin origin([&](Socket& socket, int) {
    socket.readUntil("\r\n\r\n");
    socket.write("HTTP/1.1 103 Early Hints\r\n\r");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    socket.write("\nHTTP/1.1 200 OK\r\n\r\nhello\r\n\r\n");
  });
  Proxy proxy(connectingPlan(origin.port()));
  Socket client = proxy.connect();
  EXPECT_EQ(client.readAll(), std::string("hello\r\n\r\n"));
  client.close();
  proxy.expectQuiet();
}

TEST("A host that answers CONNECT with interim answers without end is given up") {
  const DescriptorsBalance balance;
  Origin origin([&](Socket& socket, int) {
    socket.readUntil("\r\n\r\n");
    std::string many;
    for (int i = 0; i < 10'000; ++i) many += "HTTP/1.1 103 Early Hints\r\nx-a: b\r\n\r\n";
    socket.write(many);
    socket.readAll();
  });
  Proxy proxy(connectingPlan(origin.port()));
  Socket client = proxy.connect();
  EXPECT_EQ(client.readAll(), std::string());
  client.close();
  proxy.expectQuiet();
}

TEST("A tunnel by POST goes over HTTP/1 as well") {
  const DescriptorsBalance balance;
  Origin origin([](Socket& socket, int) {
    EXPECT(socket.readUntil("\r\n\r\n").starts_with("POST /tunnel HTTP/1.1\r\nhost: host:1\r\n"));
    socket.write("HTTP/1.1 200 OK\r\n\r\nhello");
    // In as many chunks as it came in.
    std::string body;
    while (body.size() < 4) {
      const size_t size = std::strtoul(socket.readUntil("\r\n").c_str(), nullptr, 16);
      EXPECT(size > 0);
      if (size == 0) return;
      body += socket.readExactly(size);
      EXPECT_EQ(socket.readExactly(2), std::string("\r\n"));
    }
    EXPECT_EQ(body, std::string("ping"));
    socket.write("bye");
  });
  plan::Update plan = tunnelingPlan(origin.port());
  plan.clusters[0].protocol = plan::Cluster::Protocol::Http1;
  plan.listeners[0].filter_chains[0].tcp->tunneling->use_post = true;
  plan.listeners[0].filter_chains[0].tcp->tunneling->post_path = "/tunnel";
  Proxy proxy(plan);
  Socket client = proxy.connect();
  EXPECT_EQ(client.readExactly(5), std::string("hello"));
  client.write("ping");
  EXPECT_EQ(client.readAll(), std::string("bye"));
  client.close();
  proxy.expectQuiet();
}

TEST("A tunnel that no head of HTTP/1 can ask for is asked of nobody, and its client waits") {
  const DescriptorsBalance balance;
  std::atomic<bool> is_asked{false};
  Origin origin([&is_asked](Socket& socket, int) {
    while (!socket.read().empty()) is_asked = true;
  });
  plan::Update plan = connectingPlan(origin.port());
  plan::HeaderAddition& added = plan.listeners[0]
                                    .filter_chains[0]
                                    .tcp->tunneling->headers.emplace()
                                    .request_add.emplace_back();
  added.name = "x-a";
  added.value.emplace().pieces.emplace_back().argument = "a\rhost: b";
  Proxy proxy(plan);
  Socket client = proxy.connect();
  client.write("bytes");
  EXPECT(proxy.waitFor("cluster.origin.upstream_rq_total", 1));
  sleepMs(30);
  EXPECT(!is_asked);
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_active"), 1u);
}

}  // namespace fairlead::test
