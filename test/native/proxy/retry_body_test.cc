// Bodies of requests that are tried again while they are still coming.
#include <string>

#include "test/native/http/http2/wire.h"
#include "test/native/proxy/http2_plan.h"
#include "test/native/support/exchange.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

// Refuses the first request of all.
Origin::Script refusingOnce() {
  return [](Socket& socket, int connection) {
    for (int i = 0; !socket.readMessage().empty(); ++i) {
      const bool is_first = connection == 0 && i == 0;
      socket.write(is_first ? "HTTP/1.1 503 x\r\ncontent-length: 0\r\n\r\n" : kOk);
    }
  };
}

plan::Update retryingPlan(uint16_t port) {
  plan::Update plan = httpPlan({port});
  plan::ClusterAction& action = *plan.route_tables[0].virtual_hosts[0].routes[0].cluster;
  plan::RetryPolicy& policy = action.retry.emplace();
  policy.retry_on = "5xx";
  policy.num_retries = 1;
  policy.base_interval_ms = 1;
  policy.max_interval_ms = 1;
  return plan;
}

}  // namespace

TEST("A body that outgrows what is kept of it while no host has its request is refused") {
  Origin origin([](Socket& socket, int) {
    socket.readUntil("\r\n\r\n");
    socket.write("HTTP/1.1 503 x\r\ncontent-length: 4\r\n\r\nbusy");
    socket.readAll();
  });
  plan::Update plan = httpPlan({origin.port()});
  plan::ClusterAction& action = *plan.route_tables[0].virtual_hosts[0].routes[0].cluster;
  action.body_limit_bytes = 10;
  plan::RetryPolicy& policy = action.retry.emplace();
  policy.retry_on = "5xx";
  policy.num_retries = 1;
  policy.base_interval_ms = 60'000;
  Proxy proxy(plan);
  Socket client = proxy.connect();
  client.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 20\r\n\r\nhello");
  EXPECT(proxy.waitFor("cluster.origin.upstream_rq_retry", 1));
  client.write(" and goodbye...");
  const std::string answer = client.readMessage();
  EXPECT(answer.starts_with("HTTP/1.1 507 "));
  EXPECT(answer.ends_with("exceeded request buffer limit while retrying upstream"));
  client.close();
  proxy.expectQuiet();
  EXPECT_EQ(proxy.stat("cluster.origin.retry_or_shadow_abandoned"), 1u);
  EXPECT_EQ(origin.connections(), 1);
}

TEST("What is kept of a body is bounded by its connection, of HTTP/2 by its stream's window") {
  constexpr uint32_t kLimit = 1000;
  const std::string body(2 * kLimit, 'x');
  {
    Origin origin(refusingOnce());
    plan::Update plan = retryingPlan(origin.port());
    plan.listeners[0].per_connection_buffer_limit_bytes = kLimit;
    Proxy proxy(plan);
    Socket client = proxy.connect();
    client.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2000\r\n\r\n" + body);
    EXPECT(client.readMessage().starts_with("HTTP/1.1 503 "));
    EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_retry"), 0u);
  }
  using namespace http2;
  Origin origin(refusingOnce());
  plan::Update plan = retryingPlan(origin.port());
  plan.listeners[0].per_connection_buffer_limit_bytes = kLimit;
  speakHttp2(plan);
  Proxy proxy(plan);
  Socket client = proxy.connect();
  BlockWriter blocks;
  client.write(std::string(kPreface) + frame(FrameType::Settings, 0, 0, {}) +
               blocks.headers(
                   1,
                   {{":method", "POST"}, {":scheme", "http"}, {":path", "/"}, {":authority", "a"}},
                   false) +
               dataFrame(1, body, true));
  EXPECT(proxy.waitFor("http.in.downstream_rq_2xx", 1));
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_retry_success"), 1u);
}

}  // namespace fairlead::test
