// What hosts ask for of retries concerns the request that they answered.
#include <string>

#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

TEST("A hedge does not wait as long as a host asked an earlier request to") {
  Origin origin([](Socket& socket, int) {
    while (true) {
      const std::string request = socket.readMessage();
      if (request.empty()) return;
      const bool is_first_try = request.find("x-envoy-attempt-count: 1\r\n") != std::string::npos;
      // The second request's first try is never answered.
      if (request.starts_with("GET /late ") && is_first_try) {
        socket.readAll();
        return;
      }
      socket.write(is_first_try ? "HTTP/1.1 503 x\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n"
                                : "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    }
  });
  plan::Update plan = httpPlan({origin.port()});
  plan::VirtualHost& host = plan.route_tables[0].virtual_hosts[0];
  host.include_request_attempt_count = true;
  plan::ClusterAction& action = *host.routes[0].cluster;
  action.hedge_on_per_try_timeout = true;
  plan::RetryPolicy& policy = action.retry.emplace();
  policy.retry_on = "5xx";
  policy.num_retries = 1;
  policy.base_interval_ms = 1;
  policy.per_try_timeout_ms = 100;
  policy.reset_headers = {{"retry-after", false}};
  policy.reset_max_interval_ms = 300'000;
  Proxy proxy(plan);
  Socket client = proxy.connect();
  for (const char* path : {"/told", "/late"}) {
    client.write("GET " + std::string(path) + " HTTP/1.1\r\nhost: a\r\n\r\n");
    EXPECT(client.readMessage().ends_with("ok"));
  }
  client.close();
  proxy.expectQuiet();
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_retry_backoff_ratelimited"), 1u);
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_retry_backoff_exponential"), 1u);
}

}  // namespace fairlead::test
