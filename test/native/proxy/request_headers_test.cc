// What a host sees of headers that clients may not decide.
#include <string>

#include "test/native/support/http_filters.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

// The head that the host gets.
std::string sentOn(const plan::Update& plan_without_hosts, const std::string& lines) {
  std::string head;
  Origin origin([&](Socket& socket, int) {
    head = socket.readMessage();
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
  });
  plan::Update plan = plan_without_hosts;
  plan.assignments = {hostsOn({origin.port()})};
  Proxy proxy(plan);
  Socket client = proxy.connect();
  client.write("GET / HTTP/1.1\r\nhost: a\r\n" + lines + "\r\n");
  EXPECT(client.readMessage().starts_with("HTTP/1.1 200 "));
  client.close();
  proxy.expectQuiet();
  return head;
}

}  // namespace

TEST("Headers that only peers may say end at the proxy, and certificates that it did not see") {
  const std::string head = sentOn(httpPlan({}),
                                  "x-forwarded-client-cert: c\r\nx-envoy-original-url: u\r\n"
                                  "x-envoy-upstream-stream-duration-ms: 1\r\nx-kept: k\r\n");
  EXPECT(has(head, "x-kept: k\r\n"));
  EXPECT(!has(head, "x-forwarded-client-cert"));
  EXPECT(!has(head, "x-envoy-original-url"));
  EXPECT(!has(head, "x-envoy-upstream-stream-duration-ms"));
}

TEST("The port that a client came to is told where nobody has said one") {
  plan::Update plan = httpPlan({});
  plan.listeners[0].filter_chains[0].http->append_x_forwarded_port = true;
  EXPECT(has(sentOn(plan, ""), "x-forwarded-port: "));
  EXPECT(has(sentOn(plan, "x-forwarded-port: 9\r\n"), "x-forwarded-port: 9\r\n"));
}

TEST("With add_user_agent the host hears which node asks; an empty user agent is filled") {
  plan::Update plan = httpPlan({});
  plan::HttpConnectionManager& manager = *plan.listeners[0].filter_chains[0].http;
  manager.add_user_agent = true;
  manager.local_cluster = "shop";
  manager.local_node = "shop-1";
  const std::string head = sentOn(plan, "user-agent:\r\n");
  EXPECT(has(head, "user-agent: shop\r\n"));
  EXPECT(has(head, "x-envoy-downstream-service-cluster: shop\r\n"));
  EXPECT(has(head, "x-envoy-downstream-service-node: shop-1\r\n"));
}

}  // namespace fairlead::test
