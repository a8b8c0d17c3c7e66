// Copies of requests on their way through filters of tries, through a real worker.
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "test/native/support/exchange.h"
#include "test/native/support/http_filters.h"
#include "test/native/support/long_uploads.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

constexpr char kChunked[] =
    "POST /p HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n"
    "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";

// Keeps what it was asked.
class Asked {
 public:
  Asked()
      : origin_([this](Socket& socket, int) {
          for (std::string request; !(request = socket.readMessage()).empty();) {
            {
              const std::lock_guard lock(mutex_);
              seen_.push_back(request);
            }
            if (!socket.write(kOk)) return;
          }
        }) {}

  uint16_t port() const { return origin_.port(); }
  std::vector<std::string> seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> seen_;
  Origin origin_;
};

// "origin", and a cluster "shadow" that gets copies, which pass that filter.
plan::Update mirroredBy(uint16_t origin, uint16_t shadow, const plan::HttpFilter& filter) {
  plan::Update plan = httpPlan({origin});
  mirrorTo(shadow, plan);
  plan.clusters[1].request_rules.emplace().http_filters.push_back(filter);
  return plan;
}

}  // namespace

TEST("A copy passes the filters of its cluster, as no request of it does") {
  Asked origin;
  Asked shadow;
  Proxy proxy(mirroredBy(origin.port(), shadow.port(), addingToRequests("x-try", "of the copy")));
  EXPECT(has(ask(proxy, kChunked), "200"));
  EXPECT(proxy.waitFor("cluster.shadow.upstream_rq_200", 1));
  EXPECT(!has(origin.seen()[0], "x-try"));
  EXPECT(has(shadow.seen()[0], "host: a-shadow\r\n"));
  EXPECT(has(shadow.seen()[0], "x-envoy-internal: true\r\n"));
  EXPECT(has(shadow.seen()[0], "x-try: of the copy\r\n"));
  EXPECT_EQ(bodyOf(shadow.seen()[0]), "abcde");
}

TEST("A copy that is to be whole first is sent whole, and one that is too long to nobody") {
  Asked origin;
  Asked shadow;
  Proxy proxy(mirroredBy(origin.port(), shadow.port(), bufferOf(8)));
  for (int i = 0; i < 3; ++i) {
    EXPECT(has(ask(proxy, kChunked), "200"));
    EXPECT(has(ask(proxy, "POST /p HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n123456789"),
               "200"));
  }
  EXPECT(proxy.waitFor("cluster.shadow.upstream_rq_200", 3));
  EXPECT(proxy.waitUntil([&] { return proxy.stat("cluster.shadow.upstream_rq_active") == 0u; }));
  EXPECT_EQ(origin.seen().size(), 6u);
  EXPECT_EQ(shadow.seen().size(), 3u);
  for (const std::string& copy : shadow.seen()) EXPECT(has(copy, "content-length: 5\r\n"));
  // What nobody hears of counts nowhere.
  EXPECT_EQ(proxy.stat("cluster.shadow.upstream_rq_completed"), 3u);
}

TEST("A copy is nobody's that rules of who may ask could speak of") {
  Asked origin;
  Asked shadow;
  Proxy proxy(mirroredBy(origin.port(), shadow.port(), denying()));
  EXPECT(has(ask(proxy, kGet), "200"));
  EXPECT(proxy.waitFor("cluster.shadow.upstream_rq_200", 1));
  EXPECT_EQ(proxy.stat("cluster.shadow.rbac.denied"), 0u);
}

TEST("A copy that a filter has broken is sent to nobody") {
  Asked origin;
  Asked shadow;
  Proxy proxy(mirroredBy(origin.port(), shadow.port(), addingToRequests("x-b", "a\x01z")));
  EXPECT(has(ask(proxy, kChunked), "200"));
  EXPECT(proxy.waitFor("cluster.shadow.upstream_cx_destroy_local_with_active_rq", 1));
  EXPECT(shadow.seen().empty());
}

TEST("Copies within filters end with their requests that are never whole, and with the worker") {
  const DescriptorsBalance balance;
  Asked origin;
  Asked shadow;
  Proxy proxy(mirroredBy(origin.port(), shadow.port(), bufferOf(100)));
  constexpr char kPart[] = "POST /p HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n1234";
  for (int i = 0; i < 4; ++i) {
    Socket client = proxy.connect();
    client.write(kPart);
    EXPECT(proxy.waitUntil([&] { return proxy.stat("http.in.downstream_rq_active") == 1u; }));
    client.reset();
    EXPECT(proxy.waitUntil([&] { return proxy.stat("http.in.downstream_rq_active") == 0u; }));
  }
  EXPECT(proxy.waitUntil([&] { return proxy.stat("cluster.shadow.upstream_rq_active") == 0u; }));
  EXPECT(shadow.seen().empty());
  // One is still under way as the worker stops.
  Socket client = proxy.connect();
  client.write(kPart);
  EXPECT(proxy.waitUntil([&] { return proxy.stat("http.in.downstream_rq_active") == 1u; }));
}

TEST("A long body passes the filters of a copy whole, at the pace of the copy's host") {
  std::atomic<uint64_t> own{0}, copied{0};
  Origin origin(counting(&own, 0));
  Origin shadow(counting(&copied, 2));
  Proxy proxy(mirroredBy(origin.port(), shadow.port(), addingToRequests("x-try", "1")));
  expectTaken(proxy, own);
  EXPECT(proxy.waitFor("cluster.shadow.upstream_rq_200", 1));
  EXPECT_EQ(copied.load(), kLongBytes);
}

TEST("A copy within filters that is answered early, or by a filter, holds nobody up any longer") {
  for (const bool is_by_filter : {false, true}) {
    std::atomic<uint64_t> own{0};
    Origin origin(counting(&own, 0));
    Origin shadow(answerEarly);
    Proxy proxy(mirroredBy(origin.port(), shadow.port(),
                           is_by_filter ? bufferOf(64 * 1024) : addingToRequests("x-try", "1")));
    expectTaken(proxy, own);
    EXPECT(proxy.waitFor("cluster.shadow.upstream_rq_active", 0));
  }
}

TEST("A copy within filters whose host cannot be reached holds nobody up any longer") {
  std::atomic<uint64_t> own{0};
  Origin origin(counting(&own, 0));
  // One more than the kernel answers connects, and then nobody can.
  uint16_t full = 0;
  const net::FileDescriptor listening = listenOnLoopback(&full, 0);
  const Socket only = Socket::connect(full);
  plan::Update plan = mirroredBy(origin.port(), full, addingToRequests("x-try", "1"));
  plan.clusters[1].connect_timeout_ms = 500;
  Proxy proxy(plan);
  expectTaken(proxy, own);
  EXPECT(proxy.waitFor("cluster.shadow.upstream_cx_connect_timeout", 1));
}

TEST("Tries are logged that a filter answers before they have a connection, and copies too") {
  char path[] = "/tmp/fairlead-tries-XXXXXX";
  ::close(::mkstemp(path));
  Asked origin;
  Asked shadow;
  plan::Update plan = mirroredBy(origin.port(), shadow.port(), addingToRequests("x-try", "copied"));
  plan::AccessLog& log = managerOf(plan).router->upstream_logs.emplace_back();
  log.path = path;
  const auto piece = [&log](plan::FormatPiece::Operator op, const std::string& argument) {
    plan::FormatPiece& one = log.format->pieces.emplace_back();
    one.op = op;
    one.argument = argument;
  };
  using Operator = plan::FormatPiece::Operator;
  log.format.emplace();
  piece(Operator::UpstreamCluster, {});
  piece(Operator::Literal, " ");
  piece(Operator::ResponseCode, {});
  piece(Operator::Literal, " ");
  piece(Operator::Req, "x-try");
  piece(Operator::Literal, "\n");
  const auto isLogged = [&path](std::string_view line) {
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return text.find(line) != std::string::npos;
  };
  {
    Proxy proxy(plan);
    EXPECT(has(ask(proxy, kGet), "200"));
    EXPECT(proxy.waitUntil([&] { return isLogged("shadow 200 copied\n"); }));
    EXPECT(proxy.waitUntil([&] { return isLogged("origin 200 -\n"); }));
  }
  plan.clusters[0].request_rules.emplace().http_filters.push_back(denying());
  Proxy proxy(plan);
  EXPECT(has(ask(proxy, kGet), "403"));
  EXPECT(proxy.waitUntil([&] { return isLogged("origin 0 -\n"); }));
  ::unlink(path);
}

}  // namespace fairlead::test
