// Which requests are health checks, and what they are answered.
#include <atomic>

#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

TEST("A health check is answered by its filter and left out of statistics") {
  Origin origin(answering("origin"));
  plan::Update plan = httpPlan({origin.port()});
  managerOf(plan).http_filters.push_back(healthCheckOn("/hc"));
  Proxy proxy(plan);
  const std::string answer = get(proxy, "/hc");
  EXPECT(answer.starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT(has(answer, "x-envoy-upstream-healthchecked-cluster: shop\r\n"));
  EXPECT(has(get(proxy, "/other"), "origin"));
  EXPECT_EQ(origin.connections(), 1);
  EXPECT_EQ(proxy.stat("http.in.health_check.request_total"), 1u);
  EXPECT_EQ(proxy.stat("http.in.health_check.ok"), 1u);
  EXPECT_EQ(proxy.stat("http.in.tracing.health_check"), 1u);
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_completed"), 1u);
  EXPECT_EQ(proxy.stat("http.in.rq_total"), 1u);
}

TEST("A health check with a body is answered when the body has ended, and the connection goes on") {
  Origin origin(answering("origin"));
  plan::Update plan = httpPlan({origin.port()});
  managerOf(plan).http_filters.push_back(healthCheckOn("/hc"));
  Proxy proxy(plan);
  Socket client = proxy.connect();
  client.write("POST /hc HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nab");
  EXPECT(proxy.waitFor("http.in.downstream_rq_active", 1));
  client.write("cd");
  EXPECT(client.readMessage().starts_with("HTTP/1.1 200 OK\r\n"));
  client.write(
      "POST /hc HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n");
  EXPECT(client.readMessage().starts_with("HTTP/1.1 200 OK\r\n"));
  client.write("GET /other HTTP/1.1\r\nhost: a\r\n\r\n");
  EXPECT(has(client.readMessage(), "origin"));
}

TEST("While the server fails its health checks are 503, and other answers tell of it") {
  Origin origin(answering("origin"));
  plan::Update plan = httpPlan({origin.port()});
  managerOf(plan).http_filters.push_back(healthCheckOn("/hc", true));
  Proxy proxy(plan);
  EXPECT(has(get(proxy, "/hc"), "origin"));
  proxy.dataPlane().setHealthCheckFailed(true);
  const std::string check = get(proxy, "/hc");
  EXPECT(check.starts_with("HTTP/1.1 503 "));
  EXPECT(has(check, "x-envoy-immediate-health-check-fail: true\r\n"));
  EXPECT(has(get(proxy, "/other"), "x-envoy-immediate-health-check-fail: true\r\n"));
  // Also what is refused before it comes to a filter.
  Socket client = proxy.connect();
  client.write("GET / HTTP/1.1\r\n\r\n");
  EXPECT(has(client.readMessage(), "x-envoy-immediate-health-check-fail: true\r\n"));
  proxy.dataPlane().setHealthCheckFailed(false);
  EXPECT(has(get(proxy, "/hc"), "origin"));
}

TEST("What a host said of its health is said again for a while") {
  std::atomic<int> asked = 0;
  Origin origin([&](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      ++asked;
      socket.write("HTTP/1.1 500 Oh\r\nx-envoy-degraded: \r\ncontent-length: 0\r\n\r\n");
    }
  });
  plan::Update plan = httpPlan({origin.port()});
  managerOf(plan).http_filters.push_back(healthCheckOn("/hc", true));
  // So long that a test falls into one period, or at most two.
  managerOf(plan).http_filters[0].health_check->cache_time_ms = uint64_t{1} << 40;
  Proxy proxy(plan);
  EXPECT(get(proxy, "/hc").starts_with("HTTP/1.1 500 "));
  const std::string remembered = get(proxy, "/hc");
  EXPECT(remembered.starts_with("HTTP/1.1 500 "));
  EXPECT(has(remembered, "x-envoy-degraded: \r\n"));
  EXPECT_EQ(asked.load(), 1);
  EXPECT_EQ(proxy.stat("http.in.health_check.cached_response"), 1u);
}

TEST("A cluster without enough healthy hosts fails the health check, and so does an unknown one") {
  Origin origin(answering("origin"));
  plan::Update plan = httpPlan({origin.port()});
  const auto wanting = [&](const std::string& path, const std::string& cluster, uint32_t percent) {
    plan::HttpFilter filter = healthCheckOn(path);
    filter.health_check->min_healthy.push_back({cluster, percent});
    managerOf(plan).http_filters.push_back(filter);
  };
  wanting("/well", "origin", 100);
  wanting("/unknown", "nobody", 0);
  Proxy proxy(plan);
  EXPECT(get(proxy, "/well").starts_with("HTTP/1.1 200 "));
  EXPECT(get(proxy, "/unknown").starts_with("HTTP/1.1 503 "));
  EXPECT_EQ(proxy.stat("http.in.health_check.failed_cluster_not_found"), 1u);
}

}  // namespace fairlead::test
