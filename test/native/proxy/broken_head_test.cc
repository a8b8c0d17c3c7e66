// Heads that the configuration has made such that no host may be sent them: found out when a host
// has a place for them, wherever they were made.
#include <atomic>
#include <string>

#include "test/native/support/exchange.h"
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

constexpr char kPost[] = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nbody";

// Notes what it hears.
Origin::Script counting(std::atomic<int>* heard) {
  return [heard](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      ++*heard;
      if (!socket.write(kOk)) return;
    }
  };
}

plan::ClusterAction& actionOf(plan::Update& plan) {
  return *plan.route_tables[0].virtual_hosts[0].routes[0].cluster;
}

// One request of that cluster was to be sent, and nobody heard of it.
void expectUnsent(Proxy& proxy, const std::string& cluster) {
  EXPECT(proxy.waitFor("cluster." + cluster + ".upstream_rq_total", 1));
  EXPECT(proxy.waitFor("cluster." + cluster + ".upstream_cx_destroy_local_with_active_rq", 1));
  EXPECT_EQ(proxy.stat("cluster." + cluster + ".upstream_rq_active"), 0u);
  EXPECT_EQ(proxy.stat("cluster." + cluster + ".upstream_rq_completed"), 0u);
}

}  // namespace

TEST("What a filter of tries has broken is answered here, and not tried again") {
  std::atomic<int> heard = 0;
  Origin origin(counting(&heard));
  plan::Update plan = httpPlan({origin.port()});
  plan.clusters[0].request_rules.emplace().http_filters.push_back(
      addingToRequests("x-b", "a\x01z"));
  plan::RetryPolicy& retry = actionOf(plan).retry.emplace();
  retry.num_retries = 2;
  retry.retry_on = "5xx,reset,connect-failure";
  Proxy proxy(plan);
  for (const std::string& request : {std::string(kGet), std::string(kPost)}) {
    const std::string answer = ask(proxy, request);
    EXPECT(answer.starts_with("HTTP/1.1 503"));
    EXPECT(answer.ends_with("invalid header value for: x-b"));
  }
  EXPECT_EQ(heard, 0);
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_total"), 2u);
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_retry"), 0u);
}

TEST("What a route has broken asks for a place at a host, and is answered here") {
  std::atomic<int> heard = 0;
  Origin origin(counting(&heard));
  plan::Update plan = httpPlan({origin.port()});
  plan.route_tables[0].virtual_hosts[0].routes[0].mutations.emplace().request_add.push_back(
      *addingHeader("no such", "v").add);
  Proxy proxy(plan);
  EXPECT(ask(proxy, kGet).ends_with("invalid header name: no such"));
  EXPECT_EQ(heard, 0);
  expectUnsent(proxy, "origin");
}

TEST("A copy that its policy has broken is sent to nobody, and its request goes on") {
  std::atomic<int> heard = 0;
  Origin origin(answering("own"));
  Origin shadow(counting(&heard));
  plan::Update plan = httpPlan({origin.port()});
  plan::MirrorPolicy& policy = mirrorTo(shadow.port(), plan);
  policy.request_changes.push_back(addingHeader("x-b", "a\x01z"));
  Proxy proxy(plan);
  EXPECT(ask(proxy, kPost).ends_with("own"));
  expectUnsent(proxy, "shadow");
  EXPECT_EQ(heard, 0);
}

}  // namespace fairlead::test
