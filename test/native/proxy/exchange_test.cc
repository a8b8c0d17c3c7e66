// Requests through a real worker: what clients and hosts see, and that nothing is left behind.
#include "test/native/support/exchange.h"

#include <chrono>
#include <string>
#include <thread>

#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

bool endsWith(const std::string& text, std::string_view end) { return text.ends_with(end); }

}  // namespace

TEST("One client connection carries many requests, over one connection to the host") {
  const DescriptorsBalance balance;
  Origin origin(answering("hello"));
  Proxy proxy(httpPlan({origin.port()}));
  Socket client = proxy.connect();
  for (int i = 0; i < 20; ++i) {
    client.write(kGet);
    const std::string answer = client.readMessage();
    EXPECT(answer.starts_with("HTTP/1.1 200 OK\r\n"));
    EXPECT(endsWith(answer, "\r\n\r\nhello"));
  }
  EXPECT_EQ(origin.connections(), 1);
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_total"), 20u);
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_total"), 20u);
  client.close();
  proxy.expectQuiet();
}

TEST("Pipelined requests are answered in order, one at a time") {
  Origin origin([](Socket& socket, int) {
    for (std::string head; !(head = socket.readMessage()).empty();) {
      const std::string path = head.substr(4, head.find(" HTTP") - 4);
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: " + std::to_string(path.size()) +
                   "\r\n\r\n" + path);
    }
  });
  Proxy proxy(httpPlan({origin.port()}), 2);
  Socket client = proxy.connect();
  std::string requests;
  for (int i = 0; i < 300; ++i) {
    requests += "GET /" + std::to_string(i) + " HTTP/1.1\r\nhost: a\r\n\r\n";
  }
  client.write(requests);
  for (int i = 0; i < 300; ++i) {
    EXPECT(endsWith(client.readMessage(), "\r\n\r\n/" + std::to_string(i)));
  }
  EXPECT_EQ(origin.connections(), 1);
}

TEST("A host that refuses gives 503, and the client's connection lives on") {
  const DescriptorsBalance balance;
  const RefusingPort port;
  Proxy proxy(httpPlan({port.number()}));
  Socket client = proxy.connect();
  for (int i = 0; i < 3; ++i) {
    client.write(kGet);
    EXPECT(client.readMessage().starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
  }
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_cx_connect_fail"), 3u);
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_cx_total"), 3u);
}

TEST("A pipe that is not there is counted as a connection that the host ended") {
  plan::Update plan = httpPlan({1});
  plan.assignments[0].hosts[0].address.emplace().pipe = "/nowhere/at/all";
  Proxy proxy(plan);
  Socket client = proxy.connect();
  client.write(kGet);
  EXPECT(client.readMessage().starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_cx_connect_fail"), 1u);
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_cx_destroy_remote"), 1u);
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_cx_active"), 0u);
}

TEST("A cluster whose hosts nobody knows yet panics") {
  plan::Update plan = httpPlan({1});
  plan.assignments.clear();
  plan.clusters[0].panic_threshold_pct = 50;
  Proxy proxy(plan);
  Socket client = proxy.connect();
  client.write(kGet);
  EXPECT(client.readMessage().starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
  EXPECT_EQ(proxy.stat("cluster.origin.lb_healthy_panic"), 1u);
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_cx_none_healthy"), 1u);
}

TEST("A host that does not take connections fails them after the connect timeout") {
  uint16_t port = 0;
  const net::FileDescriptor deaf = listenOnLoopback(&port, 0);
  // The kernel answers one or two; these fill its queue.
  plan::Update plan = httpPlan({port});
  plan.clusters[0].connect_timeout_ms = 100;
  Proxy proxy(plan);
  Socket clients[4];
  for (Socket& client : clients) {
    client = proxy.connect();
    client.write(kGet);
  }
  EXPECT(proxy.waitUntil(
      [&] { return proxy.stat("cluster.origin.upstream_cx_connect_timeout") > 0; }));
  uint64_t failed = 0;
  for (Socket& client : clients) client.close();
  failed = proxy.stat("cluster.origin.upstream_cx_connect_timeout");
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_cx_connect_fail"), failed);
}

TEST("A host that resets before its answer gives 503; in its head, 502; in a body, a reset") {
  const DescriptorsBalance balance;
  Origin origin([](Socket& socket, int number) {
    socket.readMessage();
    if (number == 1) socket.write("HTTP/1.1 200 OK\r\ncontent-le");
    if (number == 2) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n1234");
    if (number == 3)
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\n1234\r\n");
    // A reset takes with it what nobody has read by then.
    if (number > 0) sleepMs(250);
    socket.reset();
  });
  Proxy proxy(httpPlan({origin.port()}));
  Socket client = proxy.connect();
  client.write(kGet);
  EXPECT(client.readMessage().starts_with("HTTP/1.1 503"));
  client.write(kGet);
  EXPECT(client.readMessage().starts_with("HTTP/1.1 502"));
  client.write(kGet);
  EXPECT(endsWith(client.readAll(), "\r\n\r\n1234"));
  client = proxy.connect();
  client.write(kGet);
  EXPECT(endsWith(client.readAll(), "4\r\n1234\r\n"));
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_tx_reset"), 2u);
}

TEST("A body without length lasts until the host closes") {
  Origin origin([](Socket& socket, int) {
    socket.readMessage();
    socket.write("HTTP/1.1 200 OK\r\n\r\n" + std::string(100'000, 'x'));
  });
  Proxy proxy(httpPlan({origin.port()}));
  Socket client = proxy.connect();
  client.write(kGet);
  const std::string answer = client.readMessage();
  EXPECT(endsWith(answer, "0\r\n\r\n") || endsWith(answer, "0\r\n"));
  EXPECT(answer.size() > 100'000);
}

TEST("A body that comes before the host is connected arrives whole, from its first byte") {
  Origin origin([](Socket& socket, int) {
    const std::string head = socket.readUntil("\r\n\r\n");
    const std::string body = socket.readExactly(30'000);
    socket.write("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5\r\n\r\n" +
                 body.substr(0, 3) + body.substr(29'998));
  });
  Proxy proxy(httpPlan({origin.port()}));
  for (int i = 0; i < 20; ++i) {
    // Only a new connection makes the body wait.
    Socket client = proxy.connect();
    std::string body(30'000, 'm');
    body.replace(0, 3, "abc");
    body.replace(29'998, 2, "yz");
    client.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 30000\r\n\r\n" +
                 body.substr(0, 20'000));
    sleepMs(2);
    client.write(body.substr(20'000));
    const std::string answer = client.readMessage();
    EXPECT_EQ(answer.substr(answer.size() < 9 ? 0 : answer.size() - 9),
              std::string("\r\n\r\nabcyz"));
    client.close();
  }
}

TEST("A client that half-closes is gone: its request is reset upstream") {
  Origin origin([](Socket& socket, int) {
    socket.readMessage();
    EXPECT_EQ(socket.readAll(), std::string());
  });
  Proxy proxy(httpPlan({origin.port()}));
  Socket client = proxy.connect();
  client.write(kGet);
  EXPECT(proxy.waitFor("cluster.origin.upstream_rq_active", 1));
  client.endWriting();
  EXPECT_EQ(client.readAll(), std::string());
  EXPECT(proxy.waitFor("cluster.origin.upstream_cx_destroy_local_with_active_rq", 1));
}

TEST("stop() ends what is under way") {
  const DescriptorsBalance balance;
  Origin origin([](Socket& socket, int number) {
    socket.readMessage();
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 50000000\r\n\r\n");
    if (number % 2) socket.write(std::string(20'000'000, 'x'));
    socket.readAll();
  });
  Proxy proxy(httpPlan({origin.port()}), 2);
  Socket clients[12];
  for (Socket& client : clients) {
    client = proxy.connect();
    client.write(kGet);
  }
  EXPECT(proxy.waitFor("cluster.origin.upstream_rq_active", 12));
  sleepMs(50);
  proxy.stop();
}

}  // namespace fairlead::test
