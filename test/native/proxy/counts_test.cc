// What is counted of requests that do not go the usual way.
#include <memory>
#include <string>

#include "test/native/support/exchange.h"
#include "test/native/support/http_filters.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"
#include "worker/clusters_page.h"

namespace fairlead::test {

namespace {

std::string clustersText(Proxy& proxy) {
  std::string text;
  const std::unique_ptr<stats::Page> page = worker::openClustersText(proxy.dataPlane(), {});
  while (page->next(&text)) {
  }
  return text;
}

}  // namespace

TEST("An interim answer is counted as one, and the answer after it too") {
  Origin origin(answering("hello"));
  Proxy proxy(httpPlan({origin.port()}));
  Socket client = proxy.connect();
  client.write("POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 1\r\n\r\n");
  EXPECT_EQ(client.readUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.write("a");
  EXPECT(client.readMessage().starts_with("HTTP/1.1 200 "));
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_1xx"), 1u);
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_completed"), 2u);
  client.close();
}

TEST("A host's interim answers are counted as the cluster's") {
  Origin origin([](Socket& socket, int) {
    socket.readMessage();
    socket.write(
        "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n");
    socket.readAll();
  });
  Proxy proxy(httpPlan({origin.port()}));
  Socket client = proxy.connect();
  client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  const std::string answer = client.readUntil("\r\n\r\n");
  EXPECT(answer.starts_with("HTTP/1.1 204 "));
  EXPECT(answer.find("content-length") == std::string::npos);
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_1xx"), 1u);
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_completed"), 2u);
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_1xx"), 0u);
  client.close();
}

TEST("An answer before its request is whole has no time, and costs both connections") {
  Origin origin([](Socket& socket, int) {
    socket.readUntil("\r\n\r\n");
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    socket.readAll();
  });
  Proxy proxy(httpPlan({origin.port()}));
  Socket client = proxy.connect();
  client.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\n");
  const std::string answer = client.readMessage();
  EXPECT(answer.ends_with("ok"));
  EXPECT(answer.find("x-envoy-upstream-service-time") == std::string::npos);
  client.close();
  proxy.expectQuiet();
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_response_before_rq_complete"), 1u);
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_rx_reset"), 1u);
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_cx_destroy_local_with_active_rq"), 1u);
}

TEST("A host's failures that are tried again are its errors, whatever else is counted") {
  Origin origin([](Socket& socket, int) {
    for (int i = 0; i < 2 && !socket.readMessage().empty(); ++i) {
      if (!socket.write("HTTP/1.1 503 x\r\ncontent-length: 0\r\n\r\n")) return;
    }
  });
  plan::Update plan = httpPlan({origin.port()});
  plan.listeners[0].filter_chains[0].http->router.emplace().counts_no_answers = true;
  plan::RetryPolicy& policy =
      plan.route_tables[0].virtual_hosts[0].routes[0].cluster->retry.emplace();
  policy.retry_on = "5xx";
  policy.num_retries = 1;
  policy.base_interval_ms = 1;
  Proxy proxy(plan);
  EXPECT(ask(proxy, kGet).starts_with("HTTP/1.1 503"));
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_503"), 0u);
  EXPECT(clustersText(proxy).find("::rq_error::1\n") != std::string::npos);
}

TEST("An answer that breaks off is a reset of both its sides") {
  Origin origin([](Socket& socket, int) {
    socket.readMessage();
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab");
  });
  Proxy proxy(httpPlan({origin.port()}));
  Socket client = proxy.connect();
  client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  EXPECT(client.readAll().ends_with("ab"));
  client.close();
  proxy.expectQuiet();
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_tx_reset"), 1u);
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_rx_reset"), 1u);
  EXPECT_EQ(proxy.stat("http.in.rq_reset_after_downstream_response_started"), 0u);
  // The host's answer had begun: its own counters know of no error.
  EXPECT(clustersText(proxy).find("::rq_error::0\n") != std::string::npos);
}

TEST(
    "An answer that breaks off before its request is whole is one reset, and its client has time") {
  Origin origin([](Socket& socket, int) {
    socket.readUntil("\r\n\r\n");
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab");
  });
  plan::Update plan = httpPlan({origin.port()});
  plan.listeners[0].filter_chains[0].http->delayed_close_timeout_ms = 50;
  Proxy proxy(plan);
  Socket client = proxy.connect();
  client.write("POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 5\r\n\r\n");
  EXPECT(client.readAll().ends_with("ab"));
  client.close();
  proxy.expectQuiet();
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_response_before_rq_complete"), 1u);
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_tx_reset"), 1u);
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_rx_reset"), 1u);
  EXPECT_EQ(proxy.stat("http.in.downstream_cx_delayed_close_timeout"), 1u);
}

TEST("A request that is still sent whole after its answer began is no reset") {
  Origin origin([](Socket& socket, int) {
    socket.readUntil("\r\n\r\n");
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab");
    socket.readUntil("whole");
    socket.write("cde");
    socket.readAll();
  });
  Proxy proxy(httpPlan({origin.port()}));
  Socket client = proxy.connect();
  client.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\n");
  client.readUntil("ab");
  client.write("whole");
  EXPECT_EQ(client.readUntil("cde"), "cde");
  client.close();
  proxy.expectQuiet();
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_response_before_rq_complete"), 1u);
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_rx_reset"), 0u);
}

TEST(
    "Answers are counted by the zones that they go between, of hosts and of proxies that have "
    "one") {
  Origin origin(answering("hello"));
  plan::Update plan = httpPlan({origin.port()});
  plan.assignments[0].hosts[0].zone = "b";
  worker::DataPlane::Options options;
  options.zone = "a";
  {
    Proxy proxy(plan, options);
    EXPECT(get(proxy, "/").find("hello") != std::string::npos);
    EXPECT(proxy.waitFor("cluster.origin.zone.a.b.upstream_rq_200", 1));
    EXPECT(proxy.waitFor("cluster.origin.zone.a.b.upstream_rq_completed", 1));
  }
  Proxy nowhere(plan);
  EXPECT(get(nowhere, "/").find("hello") != std::string::npos);
  EXPECT(nowhere.waitFor("cluster.origin.upstream_rq_200", 1));
  EXPECT(!nowhere.dataPlane().stats().value("cluster.origin.zone.a.b.upstream_rq_200"));
}

}  // namespace fairlead::test
