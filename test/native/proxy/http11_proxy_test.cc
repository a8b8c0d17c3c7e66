// Hosts that are reached through HTTP/1.1 proxies, by a CONNECT in front of what they are told.
#include <string>

#include "test/native/support/exchange.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

plan::Address loopback(uint16_t port) {
  plan::Address address;
  address.ip = std::string("\x7f\0\0\1", 4);
  address.port = port;
  return address;
}

// Its only host is nowhere; the proxy, which the host names, is there.
plan::Update behindProxy(uint16_t proxy) {
  plan::Update plan = httpPlan({9});
  plan.clusters[0].http11_proxy.emplace();
  plan.assignments[0].hosts[0].hostname = "host.test";
  plan.assignments[0].hosts[0].proxy_address = loopback(proxy);
  return plan;
}

constexpr std::string_view kConnect = "CONNECT host.test:9 HTTP/1.1\r\nHost: host.test:9\r\n\r\n";

}  // namespace

TEST("A host is asked for by CONNECT, and hears nothing before that is granted") {
  const DescriptorsBalance balance;
  Origin proxy([](Socket& socket, int) {
    EXPECT_EQ(socket.readUntil("\r\n\r\n"), std::string(kConnect));
    socket.setPatience(50);
    EXPECT_EQ(socket.read(), std::string());
    socket.setPatience(Socket::kPatienceMs);
    // Byte by byte, after another answer that is not the last.
    for (const char c :
         std::string_view("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nx-a: 1\r\n\r\n")) {
      socket.write({&c, 1});
    }
    for (int i = 0; i < 2; ++i) {
      EXPECT(socket.readUntil("\r\n\r\n").starts_with("GET / HTTP/1.1\r\n"));
      socket.write(kOk);
    }
  });
  Proxy near(behindProxy(proxy.port()));
  Socket client = near.connect();
  for (int i = 0; i < 2; ++i) EXPECT(ask(client).ends_with("\r\n\r\nok"));
  EXPECT_EQ(proxy.connections(), 1);
}

TEST("What comes along with the proxy's answer is the host's") {
  const DescriptorsBalance balance;
  Origin proxy([](Socket& socket, int) {
    EXPECT_EQ(socket.readUntil("\r\n\r\n"), std::string(kConnect));
    socket.write("HTTP/1.1 200 OK\r\n\r\nhello");
    EXPECT_EQ(socket.readAll(), std::string("ping"));
  });
  plan::Update plan = behindProxy(proxy.port());
  plan::Update tcp = tcpPlan({9});
  tcp.clusters = plan.clusters;
  tcp.assignments = plan.assignments;
  Proxy near(tcp);
  Socket client = near.connect();
  EXPECT_EQ(client.readExactly(5), std::string("hello"));
  client.write("ping");
  client.endWriting();
  EXPECT_EQ(client.readAll(), std::string());
}

TEST(
    "A proxy that refuses, says nothing of sense or too much is a host that cannot be connected "
    "to") {
  const DescriptorsBalance balance;
  for (const std::string& answer :
       {std::string("HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n"), std::string("what?\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\n"),
        "HTTP/1.1 200 OK\r\nx-a: " + std::string(20'000, 'a')}) {
    Origin proxy([&](Socket& socket, int) {
      EXPECT_EQ(socket.readUntil("\r\n\r\n"), std::string(kConnect));
      socket.write(answer);
      if (answer.size() < 100) socket.endWriting();
      socket.readAll();
    });
    Proxy near(behindProxy(proxy.port()));
    EXPECT(ask(near, kGet).starts_with("HTTP/1.1 503 "));
    EXPECT_EQ(near.stat("cluster.origin.upstream_cx_connect_fail"), 1u);
  }
}

TEST("Hosts without a proxy of their own go by the cluster's, as if it were the host") {
  const DescriptorsBalance balance;
  Origin proxy(answering("here"));
  plan::Update plan = behindProxy(9);
  plan.assignments[0].hosts[0].proxy_address.reset();
  plan.clusters[0].http11_proxy->address = loopback(proxy.port());
  {
    Proxy near(plan);
    EXPECT(ask(near, kGet).ends_with("here"));
  }
  // And without either to themselves.
  plan.clusters[0].http11_proxy->address.reset();
  plan.assignments[0].hosts[0].address = loopback(proxy.port());
  Proxy near(plan);
  EXPECT(ask(near, kGet).ends_with("here"));
}

}  // namespace fairlead::test
