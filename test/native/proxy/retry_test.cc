// Requests that are tried again, through a real worker: what is worth a retry, what a retry sends,
// how long a try may take, and what limits retries.
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>

#include "test/native/support/exchange.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

constexpr char kBusy[] = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 4\r\n\r\nbusy";

plan::RetryPolicy& retries(plan::Update& plan, const char* retry_on, uint32_t times) {
  plan::RetryPolicy& policy =
      plan.route_tables[0].virtual_hosts[0].routes[0].cluster->retry.emplace();
  policy.retry_on = retry_on;
  policy.num_retries = times;
  policy.base_interval_ms = 1;
  return policy;
}

plan::ClusterAction& action(plan::Update& plan) {
  return *plan.route_tables[0].virtual_hosts[0].routes[0].cluster;
}

// Answers the first `count` requests with that, and all others with 200.
Origin::Script failingFirst(int count, std::string answer, std::atomic<int>* seen) {
  return [count, answer, seen](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      if ((*seen)++ >= count) {
        if (!socket.write(kOk)) return;
      } else if (answer.empty() || !socket.write(answer)) {
        return;
      }
    }
  };
}

uint64_t clusterStat(Proxy& proxy, const char* name) {
  return proxy.stat("cluster.origin.upstream_rq_" + std::string(name));
}

}  // namespace

TEST(
    "What a policy calls worth a retry is tried again until it is well or the retries are used "
    "up") {
  struct {
    const char* retry_on;
    const char* answer;  // Empty: the connection ends.
    bool is_retried;
  } const cases[] = {
      {"5xx", kBusy, true},
      {"gateway-error", kBusy, true},
      {"gateway-error", "HTTP/1.1 500 x\r\ncontent-length: 0\r\n\r\n", false},
      {"5xx", "HTTP/1.1 500 x\r\ncontent-length: 0\r\n\r\n", true},
      {"5xx", "", true},
      {"reset", "", true},
      {"reset", kBusy, false},
      {"connect-failure", "", false},
      {"reset-before-request", "", false},
      {"retriable-4xx", "HTTP/1.1 409 x\r\ncontent-length: 0\r\n\r\n", true},
      {"retriable-4xx", "HTTP/1.1 404 x\r\ncontent-length: 0\r\n\r\n", false},
      {"cancelled", "HTTP/1.1 200 x\r\ngrpc-status: 1\r\ncontent-length: 0\r\n\r\n", true},
      {"unavailable", "HTTP/1.1 200 x\r\ngrpc-status: 1\r\ncontent-length: 0\r\n\r\n", false},
      {"5xx", "HTTP/1.1 503 x\r\nx-envoy-ratelimited: true\r\ncontent-length: 0\r\n\r\n", false},
      {"envoy-ratelimited",
       "HTTP/1.1 429 x\r\nx-envoy-ratelimited: true\r\ncontent-length: 0\r\n\r\n", true},
      {"nonsense", kBusy, false},
  };
  for (const auto& one : cases) {
    std::atomic<int> seen{0};
    Origin origin(failingFirst(2, one.answer, &seen));
    plan::Update plan = httpPlan({origin.port()});
    retries(plan, one.retry_on, 3);
    Proxy proxy(plan);
    const std::string answer = ask(proxy, kGet);
    EXPECT_EQ(answer.ends_with("ok"), one.is_retried);
    EXPECT_EQ(clusterStat(proxy, "retry"), one.is_retried ? 2u : 0u);
    EXPECT_EQ(clusterStat(proxy, "retry_success"), one.is_retried ? 1u : 0u);
    EXPECT_EQ(seen.load(), one.is_retried ? 3 : 1);
  }
}

TEST(
    "Statuses and headers that a policy names are worth a retry, those of a request's headers "
    "too") {
  std::atomic<int> seen{0};
  Origin origin(
      failingFirst(1'000'000, "HTTP/1.1 418 x\r\nx-again: 1\r\ncontent-length: 0\r\n\r\n", &seen));
  plan::Update plan = httpPlan({origin.port()});
  retries(plan, "retriable-status-codes", 2).status_codes = {418};
  {
    Proxy proxy(plan);
    EXPECT(ask(proxy, kGet).starts_with("HTTP/1.1 418"));
    EXPECT_EQ(seen.exchange(0), 3);
    EXPECT_EQ(clusterStat(proxy, "retry_limit_exceeded"), 1u);
  }
  plan::HeaderMatch again;
  again.name = "x-again";
  again.present = true;
  retries(plan, "retriable-headers", 1).headers = {again};
  {
    Proxy proxy(plan);
    EXPECT(ask(proxy, kGet).starts_with("HTTP/1.1 418"));
    EXPECT_EQ(seen.exchange(0), 2);
  }
  // Of the clients only those inside may say so.
  action(plan).retry.reset();
  plan.listeners[0].filter_chains[0].http->internal_addresses.push_back(
      {std::string("\x0a\0\0\0", 4), 8});
  Proxy proxy(plan);
  const std::string wish =
      "GET / HTTP/1.1\r\nhost: a\r\nx-envoy-retry-on: retriable-headers,retriable-status-codes\r\n"
      "x-envoy-max-retries: 4\r\nx-envoy-retriable-header-names: X-Other, X-Again\r\n";
  ask(proxy, wish + "\r\n");
  EXPECT_EQ(seen.exchange(0), 1);
  ask(proxy, wish + "x-forwarded-for: 10.0.0.9\r\n\r\n");
  EXPECT_EQ(seen.exchange(0), 5);
  // A plus may stand before a number.
  const std::string signs =
      "GET / HTTP/1.1\r\nhost: a\r\nx-envoy-retry-on: retriable-status-codes\r\n"
      "x-envoy-max-retries: +2\r\nx-envoy-retriable-status-codes: -7, +418\r\n";
  ask(proxy, signs + "x-forwarded-for: 10.0.0.9\r\n\r\n");
  EXPECT_EQ(seen.exchange(0), 3);
}

TEST("A request that only some requests are retried for is left alone without their headers") {
  std::atomic<int> seen{0};
  Origin origin(failingFirst(1'000'000, kBusy, &seen));
  plan::Update plan = httpPlan({origin.port()});
  plan::HeaderMatch method;
  method.name = ":method";
  method.kind = plan::HeaderMatch::Kind::String;
  method.string_match.emplace().value = "GET";
  retries(plan, "5xx", 1).request_headers = {method};
  Proxy proxy(plan);
  ask(proxy, "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n");
  EXPECT_EQ(seen.exchange(0), 1);
  ask(proxy, kGet);
  EXPECT_EQ(seen.load(), 2);
}

TEST(
    "A retry sends the same head, body and trailers again, and counts itself where it is asked "
    "to") {
  std::mutex mutex;
  std::string requests[3];
  std::atomic<int> seen{0};
  Origin origin([&](Socket& socket, int) {
    for (std::string request; !(request = socket.readMessage()).empty();) {
      const int number = seen++;
      {
        const std::lock_guard lock(mutex);
        if (number < 3) requests[number] = request;
      }
      if (!socket.write(number < 2 ? kBusy : kOk)) return;
    }
  });
  plan::Update plan = httpPlan({origin.port()});
  plan::VirtualHost& host = plan.route_tables[0].virtual_hosts[0];
  host.include_request_attempt_count = true;
  host.include_attempt_count_in_response = true;
  host.include_is_timeout_retry = true;
  retries(plan, "5xx", 3);
  Proxy proxy(plan);
  const std::string body(40'000, 'b');
  const std::string answer =
      ask(proxy, "POST /p HTTP/1.1\r\nhost: a\r\nx-own: 1\r\ncontent-length: 40000\r\n\r\n" + body);
  EXPECT(answer.find("x-envoy-attempt-count: 3\r\n") != std::string::npos);
  for (int i = 0; i < 3; ++i) {
    EXPECT(requests[i].starts_with("POST /p HTTP/1.1\r\nhost: a\r\n"));
    EXPECT(requests[i].find("x-own: 1\r\n") != std::string::npos);
    EXPECT(requests[i].find("x-envoy-attempt-count: " + std::to_string(i + 1) + "\r\n") !=
           std::string::npos);
    EXPECT_EQ(requests[i].find("x-envoy-is-timeout-retry: false\r\n") != std::string::npos, i > 0);
    EXPECT(requests[i].ends_with("\r\n\r\n" + body));
  }
}

TEST("A body that grows beyond what is kept is sent once, and its request is not tried again") {
  std::atomic<int> seen{0};
  Origin origin(failingFirst(1, kBusy, &seen));
  plan::Update plan = httpPlan({origin.port()});
  retries(plan, "5xx", 1);
  action(plan).body_limit_bytes = 1000;
  Proxy proxy(plan);
  const std::string head = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ";
  EXPECT(ask(proxy, head + "1001\r\n\r\n" + std::string(1001, 'b')).starts_with("HTTP/1.1 503"));
  EXPECT_EQ(proxy.stat("cluster.origin.retry_or_shadow_abandoned"), 1u);
  EXPECT_EQ(seen.exchange(0), 1);
  EXPECT(ask(proxy, head + "1000\r\n\r\n" + std::string(1000, 'b')).starts_with("HTTP/1.1 200"));
  EXPECT_EQ(seen.load(), 2);
}

TEST("While it waits for its next try, a request whose body grows too long is answered with 507") {
  Origin origin([](Socket& socket, int) { socket.readUntil("\r\n\r\n"); });
  plan::Update plan = httpPlan({origin.port()});
  retries(plan, "reset", 1).base_interval_ms = 60'000;
  action(plan).body_limit_bytes = 1000;
  Proxy proxy(plan);
  Socket client = proxy.connect();
  client.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2000\r\n\r\n");
  EXPECT(proxy.waitFor("cluster.origin.upstream_rq_retry", 1));
  client.write(std::string(2000, 'b'));
  const std::string answer = client.readMessage();
  EXPECT(answer.starts_with("HTTP/1.1 507"));
  EXPECT(answer.ends_with("exceeded request buffer limit while retrying upstream"));
}

TEST("A host that is not there is tried again, and the answer tells of the retry") {
  uint16_t port = 0;
  {
    const net::FileDescriptor closed = listenOnLoopback(&port);
  }
  plan::Update plan = httpPlan({port});
  retries(plan, "connect-failure", 2);
  Proxy proxy(plan);
  const std::string answer = ask(proxy, kGet);
  EXPECT(answer.find("retried and the latest reset reason: remote connection failure") !=
         std::string::npos);
  EXPECT_EQ(clusterStat(proxy, "retry"), 2u);
  EXPECT_EQ(clusterStat(proxy, "retry_limit_exceeded"), 1u);
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_cx_connect_fail"), 3u);
}

TEST("A try that takes too long is given up for another one, and with the last comes 504") {
  std::atomic<int> seen{0};
  Origin origin([&seen](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      if (++seen == 2 && !socket.write(kOk)) return;
    }
  });
  plan::Update plan = httpPlan({origin.port()});
  retries(plan, "5xx", 1).per_try_timeout_ms = 50;
  action(plan).timeout_ms = 10'000;
  Proxy proxy(plan);
  EXPECT(ask(proxy, kGet).ends_with("ok"));
  EXPECT_EQ(clusterStat(proxy, "per_try_timeout"), 1u);
  const std::string answer = ask(proxy, kGet);
  EXPECT(answer.starts_with("HTTP/1.1 504"));
  EXPECT(answer.ends_with("upstream request timeout"));
  EXPECT_EQ(clusterStat(proxy, "per_try_timeout"), 3u);
  EXPECT_EQ(clusterStat(proxy, "timeout"), 0u);
}

TEST("An answer that pauses for longer than its try may be idle breaks off") {
  Origin origin([](Socket& socket, int) {
    socket.readMessage();
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nfirst");
    socket.readAll();
  });
  plan::Update plan = httpPlan({origin.port()});
  retries(plan, "5xx", 1).per_try_idle_timeout_ms = 50;
  Proxy proxy(plan);
  Socket client = proxy.connect();
  client.write(kGet);
  EXPECT(client.readAll().ends_with("first"));
  EXPECT_EQ(clusterStat(proxy, "per_try_idle_timeout"), 1u);
  EXPECT_EQ(clusterStat(proxy, "retry"), 0u);
}

TEST("A hedged try goes on beside the next one, and whichever answers first is the answer") {
  std::atomic<int> seen{0};
  std::atomic<bool> second_asked{false};
  Origin origin([&](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      const int number = ++seen;
      if (number == 2) second_asked = true;
      // The first answers once the second was asked, which never does.
      if (number != 1) continue;
      while (!second_asked) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (!socket.write(kOk)) return;
    }
  });
  plan::Update plan = httpPlan({origin.port()});
  retries(plan, "5xx", 1).per_try_timeout_ms = 50;
  action(plan).hedge_on_per_try_timeout = true;
  Proxy proxy(plan);
  EXPECT(ask(proxy, kGet).ends_with("ok"));
  EXPECT_EQ(seen.load(), 2);
  EXPECT_EQ(clusterStat(proxy, "retry"), 1u);
  EXPECT_EQ(clusterStat(proxy, "per_try_timeout"), 0u);
  proxy.expectQuiet();
}

TEST("A bad answer is held back while a hedged try may still give a better one") {
  std::atomic<int> seen{0};
  std::atomic<bool> first_failed{false};
  Origin origin([&](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      if (++seen == 1) {
        while (seen < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        socket.write(kBusy);
        first_failed = true;
      } else {
        while (!first_failed) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (!socket.write(kOk)) return;
      }
    }
  });
  plan::Update plan = httpPlan({origin.port()});
  retries(plan, "5xx", 1).per_try_timeout_ms = 50;
  action(plan).hedge_on_per_try_timeout = true;
  Proxy proxy(plan);
  EXPECT(ask(proxy, kGet).ends_with("ok"));
}

TEST("No more retries than the cluster allows are under way, by number or by share") {
  std::atomic<int> seen{0};
  Origin origin(failingFirst(1'000'000, kBusy, &seen));
  plan::Update plan = httpPlan({origin.port()});
  retries(plan, "5xx", 3);
  plan.clusters[0].limits[0].max_retries = 0;
  {
    Proxy proxy(plan);
    EXPECT(ask(proxy, kGet).starts_with("HTTP/1.1 503"));
    EXPECT_EQ(clusterStat(proxy, "retry_overflow"), 1u);
    EXPECT_EQ(seen.exchange(0), 1);
  }
  // A budget takes the number's place.
  plan.clusters[0].limits[0].retry_budget =
      plan::RetryBudget{.share_millionths = 200'000, .min_concurrency = 1};
  Proxy proxy(plan);
  ask(proxy, kGet);
  EXPECT_EQ(clusterStat(proxy, "retry"), 3u);
  EXPECT_EQ(clusterStat(proxy, "retry_overflow"), 0u);
}

TEST("A host that says when to come again is not asked before that") {
  std::atomic<int> seen{0};
  Origin origin(failingFirst(
      1, "HTTP/1.1 503 x\r\nretry-after: 1\r\nx-reset: 9999\r\ncontent-length: 0\r\n\r\n", &seen));
  plan::Update plan = httpPlan({origin.port()});
  plan::RetryPolicy& policy = retries(plan, "5xx", 1);
  // The first asks for more than the policy allows.
  policy.reset_headers = {{"x-reset", false}, {"retry-after", false}};
  policy.reset_max_interval_ms = 300'000;
  Proxy proxy(plan);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT(ask(proxy, kGet).ends_with("ok"));
  EXPECT(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(1000));
  EXPECT_EQ(clusterStat(proxy, "retry_backoff_ratelimited"), 1u);
  EXPECT_EQ(clusterStat(proxy, "retry_backoff_exponential"), 0u);
}

TEST("A retry goes to a host where the request has not been") {
  std::atomic<int> bad_seen{0}, good_seen{0};
  Origin bad(failingFirst(1'000'000, kBusy, &bad_seen));
  Origin good(failingFirst(0, kBusy, &good_seen));
  plan::Update plan = httpPlan({bad.port(), good.port()});
  plan.clusters[0].balancer = plan::Cluster::Balancer::Random;
  plan::RetryHosts& hosts = retries(plan, "5xx", 1).hosts.emplace();
  hosts.avoid_previous = true;
  // Chance alone would fail once in 2^64 times.
  hosts.more_choices = 64;
  Proxy proxy(plan);
  for (int i = 0; i < 20; ++i) EXPECT(ask(proxy, kGet).ends_with("ok"));
  EXPECT_EQ(good_seen.load(), 20);
}

TEST("A client that leaves while its request waits for the next try takes all of it along") {
  std::atomic<int> seen{0};
  Origin origin(failingFirst(1'000'000, kBusy, &seen));
  plan::Update plan = httpPlan({origin.port()});
  retries(plan, "5xx", 1).base_interval_ms = 60'000;
  Proxy proxy(plan);
  {
    Socket client = proxy.connect();
    client.write(kGet);
    EXPECT(proxy.waitFor("cluster.origin.upstream_rq_retry", 1));
  }
  proxy.expectQuiet();
  EXPECT_EQ(seen.load(), 1);
}

TEST("Whatever breaks at any time, retried requests are answered and nothing is left behind") {
  const DescriptorsBalance balance;
  std::atomic<int> seen{0};
  Origin origin([&seen](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      switch (seen++ % 6) {
        case 0:
          return;
        case 1:
          socket.reset();
          return;
        case 2:
          socket.write("HTTP/1.1 200 OK\r\ncontent-");
          return;
        case 3:
          if (!socket.write(kBusy)) return;
          break;
        case 4:
          socket.write("nonsense\r\n\r\n");
          return;
        default:
          if (!socket.write(kOk)) return;
      }
    }
  });
  plan::Update plan = httpPlan({origin.port()});
  retries(plan, "5xx", 5);
  plan.clusters[0].limits[0].max_retries = 1000;
  Proxy proxy(plan);
  const std::string body(70'000, 'x');
  for (int i = 0; i < 60; ++i) {
    const std::string request =
        i % 2 ? kGet
              : "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 60000\r\n\r\n" +
                    body.substr(0, 60'000);
    EXPECT(ask(proxy, request).ends_with("ok"));
  }
}

}  // namespace fairlead::test
