// Copies of requests through a real worker: what they are, that nobody waits for them, and that
// they leave nothing behind.
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>

#include "test/native/support/exchange.h"
#include "test/native/support/http_filters.h"
#include "test/native/support/long_uploads.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

constexpr char kGetOfPort[] = "GET / HTTP/1.1\r\nhost: a.test:81\r\n\r\n";

// "origin", and a cluster "shadow" that gets copies.
plan::Update mirrored(uint16_t origin, uint16_t shadow) {
  plan::Update plan = httpPlan({origin});
  mirrorTo(shadow, plan);
  return plan;
}

plan::MirrorPolicy& policyOf(plan::Update& plan) {
  return plan.route_tables[0].virtual_hosts[0].routes[0].cluster->mirrors[0];
}

// Keeps what it was asked.
class Shadow {
 public:
  explicit Shadow(std::string answer = kOk)
      : origin_([this, answer](Socket& socket, int) {
          for (std::string request; !(request = socket.readMessage()).empty();) {
            {
              const std::lock_guard lock(mutex_);
              latest_ = request;
            }
            ++seen_;
            if (!socket.write(answer)) return;
          }
        }) {}

  uint16_t port() const { return origin_.port(); }
  int seen() const { return seen_; }
  std::string latest() {
    const std::lock_guard lock(mutex_);
    return latest_;
  }

 private:
  std::mutex mutex_;
  std::string latest_;
  std::atomic<int> seen_{0};
  Origin origin_;
};

bool hasHeader(const std::string& message, std::string_view line) {
  return message.find(std::string("\r\n").append(line).append("\r\n")) != std::string::npos;
}

}  // namespace

TEST("A copy is the request with a host of its own, and its answer is only counted") {
  Origin origin(answering("own"));
  Shadow shadow("HTTP/1.1 503 x\r\ncontent-length: 3\r\n\r\nbad");
  plan::Update plan = mirrored(origin.port(), shadow.port());
  plan.listeners[0].filter_chains[0].http->local_address = "192.0.2.7";
  Proxy proxy(plan);
  const std::string answer = ask(
      proxy, "POST /p HTTP/1.1\r\nhost: a.test:81\r\nx-own: 1\r\ncontent-length: 4\r\n\r\nbody");
  EXPECT(answer.starts_with("HTTP/1.1 200"));
  EXPECT(answer.ends_with("own"));
  EXPECT(proxy.waitFor("cluster.shadow.upstream_rq_503", 1));
  const std::string copy = shadow.latest();
  EXPECT(copy.starts_with("POST /p HTTP/1.1\r\nhost: a.test-shadow:81\r\n"));
  EXPECT(hasHeader(copy, "x-own: 1"));
  EXPECT(hasHeader(copy, "x-envoy-internal: true"));
  EXPECT(hasHeader(copy, "x-forwarded-for: 192.0.2.7"));
  EXPECT(copy.ends_with("\r\n\r\nbody"));
  EXPECT_EQ(proxy.stat("cluster.shadow.internal.upstream_rq_503"), 1u);
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_503"), 0u);
}

TEST("A copy keeps the host where it is told to, or has the one that it is given") {
  Origin origin(answering("own"));
  Shadow shadow;
  plan::Update plan = mirrored(origin.port(), shadow.port());
  policyOf(plan).keeps_host = true;
  {
    Proxy proxy(plan);
    ask(proxy, kGetOfPort);
    EXPECT(proxy.waitFor("cluster.shadow.upstream_rq_200", 1));
    EXPECT(hasHeader(shadow.latest(), "host: a.test:81"));
  }
  policyOf(plan).host = "other.test";
  Proxy proxy(plan);
  ask(proxy, kGetOfPort);
  EXPECT(proxy.waitFor("cluster.shadow.upstream_rq_200", 1));
  EXPECT(hasHeader(shadow.latest(), "host: other.test"));
}

TEST(
    "Only the share of requests that is asked for has copies, to the cluster that a header names") {
  Origin origin(answering("own"));
  Shadow shadow;
  plan::Update plan = mirrored(origin.port(), shadow.port());
  policyOf(plan).share_millionths = 0;
  {
    Proxy proxy(plan);
    ask(proxy, kGetOfPort);
    EXPECT_EQ(proxy.stat("cluster.shadow.upstream_rq_total"), 0u);
  }
  policyOf(plan).share_millionths = 1'000'000;
  policyOf(plan).cluster.clear();
  policyOf(plan).cluster_header = "x-to";
  Proxy proxy(plan);
  ask(proxy, kGetOfPort);
  ask(proxy, "GET / HTTP/1.1\r\nhost: a\r\nx-to: nowhere\r\n\r\n");
  ask(proxy, "GET / HTTP/1.1\r\nhost: a\r\nx-to: shadow\r\n\r\n");
  EXPECT(proxy.waitFor("cluster.shadow.upstream_rq_200", 1));
  EXPECT_EQ(shadow.seen(), 1);
}

TEST("A copy's head is changed in order, and the request's is not") {
  std::string own;
  Origin origin([&own](Socket& socket, int) {
    own = socket.readMessage();
    socket.write(kOk);
    socket.readAll();
  });
  Shadow shadow;
  plan::Update plan = mirrored(origin.port(), shadow.port());
  const auto change = [&plan](auto set) { set(policyOf(plan).request_changes.emplace_back()); };
  const auto add = [&change](const std::string& name, const std::string& value) {
    change([&](plan::HeaderChange& one) {
      one.add.emplace();
      one.add->name = name;
      one.add->value.emplace().pieces.emplace_back().argument = value;
    });
  };
  change([](plan::HeaderChange& one) { one.remove = "x-one"; });
  add("x-one", "new");
  add("x-two", "of the copy");
  change([](plan::HeaderChange& one) {
    one.remove_matching.emplace();
    one.remove_matching->kind = plan::StringMatch::Kind::Prefix;
    one.remove_matching->value = "x-tw";
  });
  Proxy proxy(plan);
  EXPECT(ask(proxy, "GET / HTTP/1.1\r\nhost: a\r\nx-one: old\r\nx-two: own\r\n\r\n")
             .starts_with("HTTP/1.1 200"));
  EXPECT(proxy.waitUntil([&] { return shadow.seen() == 1; }));
  EXPECT(hasHeader(own, "x-one: old"));
  EXPECT(hasHeader(own, "x-two: own"));
  EXPECT(hasHeader(shadow.latest(), "x-one: new"));
  EXPECT(!hasHeader(shadow.latest(), "x-one: old"));
  EXPECT(shadow.latest().find("x-two") == std::string::npos);
}

TEST(
    "A request for an upgrade is copied with what its client sends, and given up with its tunnel") {
  constexpr std::string_view kSwitching =
      "HTTP/1.1 101 x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";
  Origin origin([&](Socket& socket, int) {
    socket.readUntil("\r\n\r\n");
    socket.write(kSwitching);
    socket.write(socket.readExactly(5));
    socket.readAll();
  });
  std::atomic<bool> has_ended{false};
  std::string head, sent;
  Origin shadow([&](Socket& socket, int) {
    head = socket.readUntil("\r\n\r\n");
    socket.write(kSwitching);
    sent = socket.readAll();
    has_ended = true;
  });
  plan::Update plan = mirrored(origin.port(), shadow.port());
  plan.listeners[0].filter_chains[0].http->upgrades.push_back({"websocket", true, {}});
  Proxy proxy(plan);
  {
    Socket client = proxy.connect();
    client.write("GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
    EXPECT(client.readUntil("\r\n\r\n").starts_with("HTTP/1.1 101"));
    EXPECT(proxy.waitFor("cluster.shadow.internal.upstream_rq_101", 1));
    client.write("hello");
    EXPECT_EQ(client.readExactly(5), std::string("hello"));
  }
  EXPECT(proxy.waitUntil([&] { return has_ended.load(); }));
  EXPECT(head.starts_with("GET / HTTP/1.1\r\nhost: a-shadow\r\n"));
  EXPECT(hasHeader(head, "upgrade: websocket"));
  EXPECT_EQ(sent, std::string("hello"));
  EXPECT(proxy.waitFor("cluster.shadow.upstream_cx_destroy_local_with_active_rq", 1));
}

TEST("A copy counts as its router's options have it, and what came before its answer as begun") {
  Origin origin(answering("own"));
  Shadow shadow("HTTP/1.1 503 x\r\ncontent-length: 0\r\n\r\n");
  plan::Update plan = mirrored(origin.port(), shadow.port());
  plan::Router& router = plan.listeners[0].filter_chains[0].http->router.emplace();
  router.counts_no_grpc_failures = true;
  {
    Proxy proxy(plan);
    ask(proxy, "GET / HTTP/1.1\r\nhost: a\r\ncontent-type: application/grpc\r\n\r\n");
    EXPECT(proxy.waitFor("cluster.shadow.internal.upstream_rq_503", 1));
    EXPECT_EQ(proxy.stat("cluster.shadow.upstream_rq_503"), 0u);
    EXPECT_EQ(proxy.stat("cluster.shadow.upstream_rq_completed"), 1u);
  }
  router.counts_no_answers = true;
  {
    Proxy proxy(plan);
    ask(proxy, kGet);
    EXPECT(proxy.waitFor("cluster.shadow.upstream_rq_active", 0));
    EXPECT_EQ(proxy.stat("cluster.shadow.upstream_rq_completed"), 0u);
  }
  router.counts_no_answers = router.counts_no_grpc_failures = false;
  Origin leaves([](Socket& socket, int) {
    socket.readMessage();
    socket.write("HTTP/1.1 103 x\r\n\r\n");
  });
  Proxy proxy(mirrored(origin.port(), leaves.port()));
  ask(proxy, kGet);
  EXPECT(proxy.waitFor("cluster.shadow.upstream_cx_destroy", 1));
  EXPECT_EQ(proxy.stat("cluster.shadow.upstream_rq_103"), 1u);
  EXPECT_EQ(proxy.stat("cluster.shadow.upstream_rq_503"), 0u);
  EXPECT_EQ(proxy.stat("cluster.shadow.upstream_rq_completed"), 1u);
}

TEST("A copy whose host never answers holds nobody up, and ends with the route's time") {
  Origin origin(answering("own"));
  Origin silent([](Socket& socket, int) { socket.readAll(); });
  plan::Update plan = mirrored(origin.port(), silent.port());
  plan.route_tables[0].virtual_hosts[0].routes[0].cluster->timeout_ms = 300;
  Proxy proxy(plan);
  EXPECT(ask(proxy, kGetOfPort).ends_with("own"));
  EXPECT(proxy.waitFor("cluster.shadow.upstream_rq_timeout", 1));
  EXPECT(proxy.waitFor("cluster.shadow.upstream_rq_504", 1));
  EXPECT(proxy.waitFor("cluster.shadow.upstream_rq_active", 0));
}

TEST("A worker that stops takes copies along that are still under way") {
  Origin origin(answering("own"));
  Origin silent([](Socket& socket, int) { socket.readAll(); });
  Proxy proxy(mirrored(origin.port(), silent.port()));
  EXPECT(ask(proxy, kGetOfPort).ends_with("own"));
  EXPECT(proxy.waitFor("cluster.shadow.upstream_rq_active", 1));
}

TEST(
    "A copy is a span of its request's, told of where its policy says so, and outlives a "
    "listener") {
  Origin origin(answering("own"));
  std::atomic<bool> was_asked{false}, may_answer{false};
  std::string asked;
  Origin slow([&](Socket& socket, int) {
    asked = socket.readMessage();
    was_asked = true;
    while (!may_answer) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    socket.write(kOk);
    socket.readAll();
  });
  plan::Update plan = mirrored(origin.port(), slow.port());
  plan::Tracing& tracing = plan.listeners[0].filter_chains[0].http->tracing.emplace();
  tracing.zipkin.emplace().shared_context = true;
  policyOf(plan).is_sampled = true;
  Proxy proxy(plan);
  EXPECT(ask(proxy,
             "GET / HTTP/1.1\r\nhost: a\r\nx-b3-traceid: 00000000000000a1\r\n"
             "x-b3-spanid: 00000000000000b1\r\nx-b3-sampled: 0\r\n\r\n")
             .ends_with("own"));
  EXPECT(proxy.waitFor("cluster.shadow.upstream_rq_active", 1));
  plan::Update without;
  without.removed_listeners.push_back(plan.listeners[0].name);
  EXPECT(proxy.dataPlane().apply(without).empty());
  EXPECT(proxy.waitUntil([&] { return was_asked.load(); }));
  may_answer = true;
  EXPECT(proxy.waitFor("cluster.shadow.upstream_rq_200", 1));
  std::string spans;
  EXPECT(proxy.waitUntil([&] { return !(spans += proxy.dataPlane().takeSpans()).empty(); }));
  EXPECT(hasHeader(asked, "x-b3-traceid: 00000000000000a1"));
  EXPECT(hasHeader(asked, "x-b3-parentspanid: 00000000000000b1"));
  EXPECT(hasHeader(asked, "x-b3-sampled: 1"));
  EXPECT(spans.find("mirror") != std::string::npos);
  EXPECT(spans.find("upstream_cluster") != std::string::npos);
}

TEST("A copy is given up with a request that is never whole") {
  Origin origin([](Socket& socket, int) { socket.readAll(); });
  Origin silent([](Socket& socket, int) { socket.readAll(); });
  Proxy proxy(mirrored(origin.port(), silent.port()));
  {
    Socket client = proxy.connect();
    client.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhalf");
    EXPECT(proxy.waitFor("cluster.shadow.upstream_rq_active", 1));
  }
  EXPECT(proxy.waitFor("cluster.shadow.upstream_rq_active", 0));
}

TEST("A long body reaches request and copy whole, and the slower of the two sets the pace") {
  std::atomic<uint64_t> own{0}, copied{0};
  Origin origin(counting(&own, 0));
  Origin shadow(counting(&copied, 2));
  Proxy proxy(mirrored(origin.port(), shadow.port()));
  expectTaken(proxy, own);
  EXPECT(proxy.waitFor("cluster.shadow.upstream_rq_200", 1));
  EXPECT_EQ(copied.load(), kLongBytes);
}

TEST("A copy that is answered before it is whole holds up its request no longer") {
  std::atomic<uint64_t> own{0};
  Origin origin(counting(&own, 0));
  Origin shadow(answerEarly);
  Proxy proxy(mirrored(origin.port(), shadow.port()));
  expectTaken(proxy, own);
}

}  // namespace fairlead::test
