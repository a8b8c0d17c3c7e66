// Deadlines and circuit breakers through a real worker, and hosts that come and go.
#include <chrono>
#include <string>
#include <thread>

#include "test/native/support/exchange.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using Clock = std::chrono::steady_clock;

Origin::Script answeringAfter(int ms) {
  return [ms](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      sleepMs(ms);
      if (!socket.write(kOk)) return;
    }
  };
}

}  // namespace

TEST("One connection at most: requests wait for it and are all answered") {
  Origin origin(answeringAfter(10));
  plan::Update plan = httpPlan({origin.port()});
  plan.clusters[0].limits[0].max_connections = 1;
  Proxy proxy(plan);
  Socket clients[8];
  for (Socket& client : clients) {
    client = proxy.connect();
    client.write(kGet);
  }
  for (Socket& client : clients) EXPECT(client.readMessage().starts_with("HTTP/1.1 200"));
  EXPECT_EQ(origin.connections(), 1);
  EXPECT(proxy.stat("cluster.origin.upstream_cx_overflow") > 0);
}

TEST("One connection at most to each host: requests wait for it, whatever the cluster may have") {
  Origin origin(answeringAfter(10));
  plan::Update plan = httpPlan({origin.port()});
  plan.clusters[0].limits[0].max_connections_per_host = 1;
  Proxy proxy(plan);
  Socket clients[8];
  for (Socket& client : clients) {
    client = proxy.connect();
    client.write(kGet);
  }
  for (Socket& client : clients) EXPECT(client.readMessage().starts_with("HTTP/1.1 200"));
  EXPECT_EQ(origin.connections(), 1);
  EXPECT(proxy.stat("cluster.origin.upstream_cx_overflow") > 0);
}

TEST("Beyond the pending limit requests get 503 at once, with x-envoy-overloaded") {
  Origin origin(answeringAfter(200));
  plan::Update plan = httpPlan({origin.port()});
  plan.clusters[0].limits[0].max_connections = 1;
  plan.clusters[0].limits[0].max_pending_requests = 2;
  Proxy proxy(plan);
  Socket busy = proxy.connect();
  busy.write(kGet);
  EXPECT(proxy.waitFor("cluster.origin.upstream_rq_active", 1));
  Socket waiting[2];
  for (Socket& client : waiting) {
    client = proxy.connect();
    client.write(kGet);
  }
  EXPECT(proxy.waitFor("cluster.origin.upstream_rq_pending_active", 2));
  Socket last = proxy.connect();
  last.write(kGet);
  const std::string answer = last.readMessage();
  EXPECT(answer.starts_with("HTTP/1.1 503"));
  EXPECT(answer.find("x-envoy-overloaded: true\r\n") != std::string::npos);
  // One of those that wait gives up: its place is free again.
  waiting[0].close();
  EXPECT(proxy.waitFor("cluster.origin.upstream_rq_pending_active", 1));
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_cancelled"), 1u);
  EXPECT(busy.readMessage().starts_with("HTTP/1.1 200"));
  EXPECT(waiting[1].readMessage().starts_with("HTTP/1.1 200"));
}

TEST("x-envoy-overloaded is suppressed with the others of its kind") {
  plan::Update plan = httpPlan({1});
  plan.clusters[0].limits[0].max_pending_requests = 0;
  plan.listeners[0].filter_chains[0].http->router->suppress_envoy_headers = true;
  Proxy proxy(plan);
  Socket client = proxy.connect();
  client.write(kGet);
  const std::string answer = client.readMessage();
  EXPECT(answer.starts_with("HTTP/1.1 503"));
  EXPECT(answer.ends_with("reset reason: overflow"));
  EXPECT(answer.find("x-envoy") == std::string::npos);
}

TEST("Beyond the request limit waiting requests fail when their turn comes") {
  Origin origin(answeringAfter(100));
  plan::Update plan = httpPlan({origin.port()});
  plan.clusters[0].limits[0].max_requests = 2;
  Proxy proxy(plan);
  Socket clients[6];
  for (Socket& client : clients) {
    client = proxy.connect();
    client.write(std::string(kGet) + kGet);
  }
  int good = 0;
  int overflown = 0;
  for (Socket& client : clients) {
    for (int i = 0; i < 2; ++i) {
      const std::string answer = client.readMessage();
      good += answer.starts_with("HTTP/1.1 200");
      overflown += answer.starts_with("HTTP/1.1 503");
    }
  }
  EXPECT_EQ(good + overflown, 12);
  EXPECT(good >= 2);
  EXPECT(overflown > 0);
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_active_overflow"),
            static_cast<uint64_t>(overflown));
}

TEST("A route's idle timeout is kept even by a stream that was first told a longer one") {
  Origin origin(answeringAfter(5000));
  plan::Update plan = httpPlan({origin.port()});
  plan.route_tables[0].virtual_hosts[0].routes[0].cluster->idle_timeout_ms = 100;
  Proxy proxy(plan);
  Socket client = proxy.connect();
  const auto start = Clock::now();
  client.write(kGet);
  EXPECT(client.readMessage().starts_with("HTTP/1.1 504"));
  EXPECT(Clock::now() - start < std::chrono::milliseconds(1000));
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_idle_timeout"), 1u);
}

TEST("A route's timeout counts from the end of the request, and ends a waiting one too") {
  uint16_t port = 0;
  const net::FileDescriptor deaf = listenOnLoopback(&port, 0);
  plan::Update plan = httpPlan({port});
  plan.route_tables[0].virtual_hosts[0].routes[0].cluster->timeout_ms = 80;
  Proxy proxy(plan);
  Socket clients[4];
  for (Socket& client : clients) {
    client = proxy.connect();
    client.write(kGet);
  }
  for (Socket& client : clients) EXPECT(client.readMessage().starts_with("HTTP/1.1 504"));
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_timeout"), 4u);
}

TEST("An idle client is let go after the idle timeout; one that talks stays") {
  Origin origin(answering("ok"));
  plan::Update plan = httpPlan({origin.port()});
  plan.listeners[0].filter_chains[0].http->idle_timeout_ms = 120;
  plan.clusters[0].idle_timeout_ms = 60;
  Proxy proxy(plan);
  Socket client = proxy.connect();
  for (int i = 0; i < 6; ++i) {
    client.write(kGet);
    EXPECT(client.readMessage().starts_with("HTTP/1.1 200"));
    sleepMs(40);
  }
  EXPECT_EQ(client.readAll(), std::string());
  EXPECT_EQ(proxy.stat("http.in.downstream_cx_idle_timeout"), 1u);
  EXPECT(proxy.waitFor("cluster.origin.upstream_cx_active", 0));
  EXPECT(proxy.stat("cluster.origin.upstream_cx_idle_timeout") > 0);
}

TEST("Hosts that leave keep what they serve, lose their idle connections, and are forgotten") {
  const DescriptorsBalance balance;
  Origin slow(answeringAfter(200));
  Origin fast(answering("ok"));
  Proxy proxy(httpPlan({slow.port()}));
  Socket idle = proxy.connect();
  idle.write(kGet);
  EXPECT(idle.readMessage().starts_with("HTTP/1.1 200"));
  Socket clients[3];
  for (Socket& client : clients) {
    client = proxy.connect();
    client.write(kGet);
  }
  EXPECT(proxy.waitFor("cluster.origin.upstream_rq_active", 3));
  plan::Update update;
  update.assignments.push_back(hostsOn({fast.port()}));
  EXPECT_EQ(proxy.dataPlane().apply(update).size(), 0u);
  for (Socket& client : clients) EXPECT(client.readMessage().starts_with("HTTP/1.1 200"));
  const upstream::Limits& limits = proxy.dataPlane().clusters().at("origin")->limits(0);
  EXPECT(proxy.waitUntil([&] { return limits.connections.used() == 0; }));
  // The pool is gone before another update comes.
  EXPECT(proxy.waitUntil([&] { return limits.connection_pools.used() == 0; }));
  idle.write(kGet);
  EXPECT(idle.readMessage().ends_with("ok"));
  EXPECT_EQ(fast.connections(), 1);
}

TEST("A connection that is made for a host that has left serves who waits, and closes") {
  const DescriptorsBalance balance;
  Origin first(answeringAfter(20));
  Origin second(answering("ok"));
  Proxy proxy(httpPlan({first.port()}), 2);
  for (int i = 0; i < 40; ++i) {
    Socket client = proxy.connect();
    client.write(kGet);
    plan::Update update;
    update.assignments.push_back(hostsOn({i % 2 ? first.port() : second.port()}));
    proxy.dataPlane().apply(update);
    if (i % 5) EXPECT(client.readMessage().starts_with("HTTP/1.1 200"));
  }
  plan::Update update;
  update.assignments.push_back(hostsOn({}));
  proxy.dataPlane().apply(update);
  proxy.expectQuiet();
  EXPECT(proxy.waitFor("cluster.origin.upstream_cx_active", 0));
}

TEST("A cluster that is replaced answers what it began; later requests go to the new one") {
  const DescriptorsBalance balance;
  Origin before(answeringAfter(150));
  Origin after(answering("new"));
  const plan::Update plan = httpPlan({before.port()});
  Proxy proxy(plan);
  Socket client = proxy.connect();
  Socket other = proxy.connect();
  client.write(kGet);
  EXPECT(proxy.waitFor("cluster.origin.upstream_rq_active", 1));
  plan::Update update;
  update.clusters = plan.clusters;
  update.assignments.push_back(hostsOn({after.port()}));
  EXPECT_EQ(proxy.dataPlane().apply(update).size(), 0u);
  other.write(kGet);
  EXPECT(other.readMessage().ends_with("new"));
  EXPECT(client.readMessage().ends_with("ok"));
  client.write(kGet);
  EXPECT(client.readMessage().ends_with("new"));
}

TEST("A listener at its connection limit ends what comes beyond, until one of its clients goes") {
  Origin origin(answeringAfter(0));
  plan::Update plan = httpPlan({origin.port()});
  plan.listeners[0].max_connections = 2;
  Proxy proxy(plan);
  Socket first = proxy.connect();
  Socket second = proxy.connect();
  for (Socket* client : {&first, &second}) {
    client->write(kGet);
    EXPECT(client->readMessage().starts_with("HTTP/1.1 200"));
  }
  EXPECT_EQ(proxy.connect().readAll(), std::string());
  EXPECT_EQ(proxy.stat("listener.in.downstream_cx_overflow"), 1u);
  first.close();
  EXPECT(proxy.waitFor("http.in.downstream_cx_active", 1));
  Socket third = proxy.connect();
  third.write(kGet);
  EXPECT(third.readMessage().starts_with("HTTP/1.1 200"));
}

TEST("Beyond the limit of all listeners together a connection is ended, and counted as that") {
  Origin origin(answeringAfter(0));
  plan::Update plan = httpPlan({origin.port()});
  plan.connection_limit = plan::ConnectionLimit{1, 0};
  Proxy proxy(plan);
  Socket first = proxy.connect();
  first.write(kGet);
  EXPECT(first.readMessage().starts_with("HTTP/1.1 200"));
  EXPECT_EQ(proxy.connect().readAll(), std::string());
  EXPECT_EQ(proxy.stat("listener.in.downstream_global_cx_overflow"), 1u);
  EXPECT_EQ(proxy.stat("listener.in.downstream_cx_overflow"), 0u);
  first.close();
  EXPECT(proxy.waitFor("http.in.downstream_cx_active", 0));
  Socket second = proxy.connect();
  second.write(kGet);
  EXPECT(second.readMessage().starts_with("HTTP/1.1 200"));
}

TEST("A cluster's max_stream_duration ends an exchange with its host") {
  Origin origin(answeringAfter(2000));
  plan::Update plan = httpPlan({origin.port()});
  plan.clusters[0].max_stream_duration_ms = 50;
  Proxy proxy(plan);
  Socket client = proxy.connect();
  client.write(kGet);
  const std::string answer = client.readMessage();
  EXPECT(answer.starts_with("HTTP/1.1 504"));
  EXPECT(answer.ends_with("upstream max stream duration reached"));
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_max_duration_reached"), 1u);
}

TEST("max_connection_duration ends a connection, at once or after the drain timeout") {
  Origin origin(answeringAfter(0));
  plan::Update plan = httpPlan({origin.port()});
  plan::HttpConnectionManager& http = *plan.listeners[0].filter_chains[0].http;
  http.max_connection_duration_ms = 50;
  http.drain_timeout_ms = 50;
  Proxy proxy(plan);
  EXPECT_EQ(proxy.connect().readAll(), std::string());
  Socket client = proxy.connect();
  client.write(kGet);
  EXPECT(client.readMessage().starts_with("HTTP/1.1 200"));
  EXPECT_EQ(client.readAll(), std::string());
  EXPECT_EQ(proxy.stat("http.in.downstream_cx_max_duration_reached"), 2u);
}

TEST("Without room for a pool of connections there is no host; an idle one makes room") {
  Origin origin(answeringAfter(0));
  plan::Update plan = httpPlan({origin.port()});
  plan.clusters[0].limits[0].max_connection_pools = 1;
  plan.clusters[0].pools_by_client = true;
  Proxy proxy(plan);
  Socket first = proxy.connect();
  first.write(kGet);
  EXPECT(first.readMessage().starts_with("HTTP/1.1 200"));
  Socket second = proxy.connect();
  second.write(kGet);
  EXPECT(second.readMessage().starts_with("HTTP/1.1 200"));
  EXPECT_EQ(origin.connections(), 2);
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_cx_pool_overflow"), 0u);
  plan::Update none = httpPlan({origin.port()});
  none.clusters[0].limits[0].max_connection_pools = 0;
  Proxy full(none);
  Socket client = full.connect();
  client.write(kGet);
  EXPECT(client.readMessage().ends_with("no healthy upstream"));
  EXPECT_EQ(full.stat("cluster.origin.upstream_cx_pool_overflow"), 1u);
  EXPECT_EQ(full.stat("cluster.origin.upstream_rq_total"), 0u);
}

TEST("What limits requests and streams limits their heads, too") {
  struct Limited {
    const char* what;
    const char* stat;
    uint64_t plan::HttpConnectionManager::* limit;
  };
  for (const Limited& one : {
           Limited{"stream timeout", "http.in.downstream_rq_idle_timeout",
                   &plan::HttpConnectionManager::stream_idle_timeout_ms},
           Limited{"request timeout", "http.in.downstream_rq_timeout",
                   &plan::HttpConnectionManager::request_timeout_ms},
           Limited{"downstream duration timeout", "http.in.downstream_rq_max_duration_reached",
                   &plan::HttpConnectionManager::max_stream_duration_ms},
           Limited{"request header timeout", "http.in.downstream_rq_header_timeout",
                   &plan::HttpConnectionManager::request_headers_timeout_ms},
       }) {
    plan::Update plan = httpPlan({1});
    (*plan.listeners[0].filter_chains[0].http).*one.limit = 30;
    Proxy proxy(plan);
    Socket client = proxy.connect();
    client.write("GET / HTTP/1.1\r\nhost: a\r\n");
    const std::string answer = client.readMessage();
    EXPECT(answer.starts_with("HTTP/1.1 408"));
    EXPECT(answer.ends_with(one.what));
    EXPECT_EQ(proxy.stat(one.stat), 1u);
  }
}

}  // namespace fairlead::test
