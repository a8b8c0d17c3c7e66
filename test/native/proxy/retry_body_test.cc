// Bodies of requests that are tried again while they are still coming.
#include <string>

#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

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

}  // namespace fairlead::test
