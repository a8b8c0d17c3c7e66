// Filters that tries pass on their way to hosts, through a real worker.
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "test/native/support/exchange.h"
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

plan::RequestRules& rulesOf(plan::Update& plan) { return plan.clusters[0].request_rules.emplace(); }

std::string postOnce(Proxy& proxy, const std::string& framing, const std::string& body) {
  Socket client = proxy.connect();
  client.write("POST /path HTTP/1.1\r\nhost: a\r\n" + framing + "\r\n\r\n" + body);
  return client.readMessage();
}

}  // namespace

TEST("A body is whole before its host has the head, and what is too long is refused") {
  std::mutex mutex;
  std::vector<std::string> seen;
  Origin origin([&](Socket& socket, int) {
    for (std::string request; !(request = socket.readMessage()).empty();) {
      {
        const std::lock_guard lock(mutex);
        seen.push_back(request);
      }
      if (!socket.write(kOk)) return;
    }
  });
  plan::Update plan = httpPlan({origin.port()});
  rulesOf(plan).http_filters.push_back(bufferOf(8));
  Proxy proxy(std::move(plan));
  EXPECT(has(postOnce(proxy, "transfer-encoding: chunked", "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"),
             "200"));
  EXPECT(has(postOnce(proxy, "content-length: 9", "123456789"), "413"));
  const std::lock_guard lock(mutex);
  EXPECT_EQ(seen.size(), 1u);
  EXPECT(has(seen[0], "content-length: 5\r\n"));
  EXPECT(has(seen[0], "abcde"));
}

TEST("Each try passes the filters anew, with the body that was kept") {
  std::atomic<int> count = 0;
  std::mutex mutex;
  std::vector<std::string> seen;
  Origin origin([&](Socket& socket, int) {
    for (std::string request; !(request = socket.readMessage()).empty();) {
      {
        const std::lock_guard lock(mutex);
        seen.push_back(request);
      }
      const bool is_busy = count++ < 2;
      if (!socket.write(is_busy ? "HTTP/1.1 503 x\r\ncontent-length: 0\r\n\r\n" : kOk)) return;
    }
  });
  plan::Update plan = httpPlan({origin.port()});
  rulesOf(plan).http_filters.push_back(bufferOf(100));
  plan::RetryPolicy& retry = plan.clusters[0].request_rules->retry.emplace();
  retry.retry_on = "5xx";
  retry.num_retries = 2;
  retry.base_interval_ms = 1;
  Proxy proxy(std::move(plan));
  EXPECT(has(postOnce(proxy, "content-length: 4", "body"), "200"));
  const std::lock_guard lock(mutex);
  EXPECT_EQ(seen.size(), 3u);
  for (const std::string& request : seen) {
    EXPECT(has(request, "POST /path HTTP/1.1"));
    EXPECT(has(request, "body"));
  }
}

TEST("Who may not have a host gets no connection to it, and no other try") {
  Origin origin(answering("origin"));
  plan::Update plan = httpPlan({origin.port()});
  rulesOf(plan).http_filters.push_back(denying());
  Proxy proxy(std::move(plan));
  EXPECT(has(get(proxy, "/"), "403"));
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_cx_total"), 0u);
  EXPECT_EQ(proxy.stat("cluster.origin.rbac.denied"), 1u);
}

TEST("A cluster without filters has those of the router") {
  Origin origin(answering("origin"));
  plan::Update plan = httpPlan({origin.port()});
  managerOf(plan).router->upstream_filters.push_back(bufferOf(2));
  Proxy proxy(std::move(plan));
  EXPECT(has(postOnce(proxy, "content-length: 3", "abc"), "413"));
  EXPECT(has(postOnce(proxy, "content-length: 2", "ab"), "200"));
}

}  // namespace fairlead::test
