// Filters before the router: which requests they keep, what they add to answers, what they record.
#include <atomic>
#include <mutex>
#include <thread>

#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

plan::HeaderMatch pathIs(const std::string& path) {
  plan::HeaderMatch match;
  match.name = ":path";
  match.kind = plan::HeaderMatch::Kind::String;
  match.string_match.emplace();
  match.string_match->kind = plan::StringMatch::Kind::Exact;
  match.string_match->value = path;
  return match;
}

plan::HttpFilter healthCheckOn(const std::string& path, bool pass_through = false) {
  plan::HttpFilter filter;
  filter.health_check.emplace();
  filter.health_check->pass_through = pass_through;
  filter.health_check->headers.push_back(pathIs(path));
  filter.health_check->local_cluster = "shop";
  return filter;
}

plan::HttpConnectionManager& managerOf(plan::Update& plan) {
  return *plan.listeners[0].filter_chains[0].http;
}

std::string get(Proxy& proxy, const std::string& path, const std::string& more = {}) {
  Socket client = proxy.connect();
  client.write("GET " + path + " HTTP/1.1\r\nhost: a\r\n" + more + "\r\n");
  return client.readMessage();
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST("A health check is answered by its filter and left out of statistics") {
  Origin origin(answering("origin"));
  plan::Update plan = httpPlan({origin.port()});
  managerOf(plan).http_filters.push_back(healthCheckOn("/hc"));
  Proxy proxy(plan);
  const std::string answer = get(proxy, "/hc");
  EXPECT(answer.starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT(has(answer, "x-envoy-upstream-healthchecked-cluster: shop\r\n"));
  EXPECT(has(get(proxy, "/other"), "origin"));
  EXPECT_EQ(origin.connections(), 1);
  EXPECT_EQ(proxy.stat("http.in.health_check.request_total"), 1u);
  EXPECT_EQ(proxy.stat("http.in.health_check.ok"), 1u);
  EXPECT_EQ(proxy.stat("http.in.tracing.health_check"), 1u);
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_completed"), 1u);
  EXPECT_EQ(proxy.stat("http.in.rq_total"), 1u);
}

TEST("A health check with a body is answered when the body has ended, and the connection goes on") {
  Origin origin(answering("origin"));
  plan::Update plan = httpPlan({origin.port()});
  managerOf(plan).http_filters.push_back(healthCheckOn("/hc"));
  Proxy proxy(plan);
  Socket client = proxy.connect();
  client.write("POST /hc HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nab");
  EXPECT(proxy.waitFor("http.in.downstream_rq_active", 1));
  client.write("cd");
  EXPECT(client.readMessage().starts_with("HTTP/1.1 200 OK\r\n"));
  client.write(
      "POST /hc HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n");
  EXPECT(client.readMessage().starts_with("HTTP/1.1 200 OK\r\n"));
  client.write("GET /other HTTP/1.1\r\nhost: a\r\n\r\n");
  EXPECT(has(client.readMessage(), "origin"));
}

TEST("While the server fails its health checks are 503, and other answers tell of it") {
  Origin origin(answering("origin"));
  plan::Update plan = httpPlan({origin.port()});
  managerOf(plan).http_filters.push_back(healthCheckOn("/hc", true));
  Proxy proxy(plan);
  EXPECT(has(get(proxy, "/hc"), "origin"));
  proxy.dataPlane().setHealthCheckFailed(true);
  const std::string check = get(proxy, "/hc");
  EXPECT(check.starts_with("HTTP/1.1 503 "));
  EXPECT(has(check, "x-envoy-immediate-health-check-fail: true\r\n"));
  EXPECT(has(get(proxy, "/other"), "x-envoy-immediate-health-check-fail: true\r\n"));
  // Also what is refused before it comes to a filter.
  Socket client = proxy.connect();
  client.write("GET / HTTP/1.1\r\n\r\n");
  EXPECT(has(client.readMessage(), "x-envoy-immediate-health-check-fail: true\r\n"));
  proxy.dataPlane().setHealthCheckFailed(false);
  EXPECT(has(get(proxy, "/hc"), "origin"));
}

TEST("What a host said of its health is said again for a while") {
  std::atomic<int> asked = 0;
  Origin origin([&](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      ++asked;
      socket.write("HTTP/1.1 500 Oh\r\nx-envoy-degraded: \r\ncontent-length: 0\r\n\r\n");
    }
  });
  plan::Update plan = httpPlan({origin.port()});
  managerOf(plan).http_filters.push_back(healthCheckOn("/hc", true));
  // So long that a test falls into one period, or at most two.
  managerOf(plan).http_filters[0].health_check->cache_time_ms = uint64_t{1} << 40;
  Proxy proxy(plan);
  EXPECT(get(proxy, "/hc").starts_with("HTTP/1.1 500 "));
  const std::string remembered = get(proxy, "/hc");
  EXPECT(remembered.starts_with("HTTP/1.1 500 "));
  EXPECT(has(remembered, "x-envoy-degraded: \r\n"));
  EXPECT_EQ(asked.load(), 1);
  EXPECT_EQ(proxy.stat("http.in.health_check.cached_response"), 1u);
}

TEST("A cluster without enough healthy hosts fails the health check, and so does an unknown one") {
  Origin origin(answering("origin"));
  plan::Update plan = httpPlan({origin.port()});
  const auto wanting = [&](const std::string& path, const std::string& cluster, uint32_t percent) {
    plan::HttpFilter filter = healthCheckOn(path);
    filter.health_check->min_healthy.push_back({cluster, percent});
    managerOf(plan).http_filters.push_back(filter);
  };
  wanting("/well", "origin", 100);
  wanting("/unknown", "nobody", 0);
  Proxy proxy(plan);
  EXPECT(get(proxy, "/well").starts_with("HTTP/1.1 200 "));
  EXPECT(get(proxy, "/unknown").starts_with("HTTP/1.1 503 "));
  EXPECT_EQ(proxy.stat("http.in.health_check.failed_cluster_not_found"), 1u);
}

TEST("A route switches filters off, and those that are off by default on") {
  Origin origin(answering("origin"));
  plan::Update plan = httpPlan({origin.port()});
  managerOf(plan).http_filters.push_back(healthCheckOn("/off"));
  managerOf(plan).http_filters.push_back(healthCheckOn("/on"));
  managerOf(plan).http_filters[1].disabled = true;
  Proxy usual(plan);
  EXPECT(!has(get(usual, "/off"), "origin"));
  EXPECT(has(get(usual, "/on"), "origin"));
  plan::Route& route = plan.route_tables[0].virtual_hosts[0].routes[0];
  route.filter_toggles = {{0, true}, {1, false}};
  Proxy toggled(plan);
  EXPECT(has(get(toggled, "/off"), "origin"));
  EXPECT(!has(get(toggled, "/on"), "origin"));
}

// ---- the tap ----

namespace {

class Traces final : public filters::TapSink {
 public:
  void onTrace(uint32_t, uint64_t, std::string bytes) override {
    const std::lock_guard lock(mutex_);
    traces_.push_back(std::move(bytes));
  }
  size_t count() {
    const std::lock_guard lock(mutex_);
    return traces_.size();
  }
  std::string at(size_t index) {
    const std::lock_guard lock(mutex_);
    return index < traces_.size() ? traces_[index] : std::string();
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> traces_;
};

plan::Tap tapOf(plan::TapMatch match) {
  plan::Tap tap;
  tap.match = std::move(match);
  tap.max_request_body_bytes = tap.max_response_body_bytes = 5;
  tap.share_millionths = 1'000'000;
  return tap;
}

plan::Update tapPlan(uint16_t port, std::optional<plan::Tap> tap) {
  plan::Update plan = httpPlan({port});
  plan::HttpFilter filter;
  filter.tap.emplace();
  filter.tap->tap = std::move(tap);
  managerOf(plan).http_filters.push_back(filter);
  return plan;
}

}  // namespace

TEST("A tap records the request and its answer, bodies up to their limits") {
  Origin origin(answering("0123456789"));
  const auto traces = std::make_shared<Traces>();
  Proxy proxy(tapPlan(origin.port(), tapOf({})), 1, traces);
  Socket client = proxy.connect();
  client.write("POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc");
  EXPECT(client.readMessage().ends_with("0123456789"));
  EXPECT(proxy.waitUntil([&] { return traces->count() == 1; }));
  const std::string trace = traces->at(0);
  EXPECT(has(trace, std::string_view("\x0a\x05:path\x12\x02/a", 11)));
  EXPECT(has(trace, std::string_view("\x12\x05\x0a\x03"
                                     "abc",
                                     7)));
  // Truncated.
  EXPECT(has(trace, std::string_view("\x12\x09\x0a\x05"
                                     "01234\x18\x01",
                                     11)));
  EXPECT(has(trace, std::string_view("\x0a\x07:status\x12\x03"
                                     "200",
                                     14)));
  EXPECT_EQ(proxy.stat("http.in.tap.rq_tapped"), 1u);
}

TEST("A tap records only what it is told to, from the next request on") {
  Origin origin(answering("ok"));
  const auto traces = std::make_shared<Traces>();
  Proxy proxy(tapPlan(origin.port(), std::nullopt), 1, traces);
  get(proxy, "/before");
  plan::TapMatch wanted;
  wanted.kind = plan::TapMatch::Kind::RequestHeaders;
  wanted.headers.push_back(pathIs("/wanted"));
  plan::Update on;
  on.taps.emplace_back();
  on.taps[0].tap = tapOf(wanted);
  EXPECT(proxy.dataPlane().apply(on).empty());
  EXPECT(proxy.waitUntil([&] {
    get(proxy, "/wanted");
    return traces->count() > 0;
  }));
  get(proxy, "/other");
  const size_t count = traces->count();
  plan::Update off;
  off.taps.emplace_back();
  EXPECT(proxy.dataPlane().apply(off).empty());
  get(proxy, "/other");
  EXPECT(!has(traces->at(0), "/before"));
  EXPECT(!has(traces->at(count - 1), "/other"));
  plan::Update wrong;
  wrong.taps.emplace_back();
  wrong.taps[0].id = 7;
  EXPECT_EQ(proxy.dataPlane().apply(wrong).size(), 1u);
}

TEST("A streaming tap tells what came before it knew that it wants the request") {
  Origin origin(answering("ok"));
  const auto traces = std::make_shared<Traces>();
  plan::TapMatch match;
  match.kind = plan::TapMatch::Kind::RequestBody;
  match.patterns = {"needle"};
  plan::Tap tap = tapOf(match);
  tap.streaming = true;
  tap.max_request_body_bytes = 100;
  Proxy proxy(tapPlan(origin.port(), tap), 1, traces);
  Socket client = proxy.connect();
  client.write("POST /hay HTTP/1.1\r\nhost: a\r\ncontent-length: 6\r\n\r\nnothin");
  client.readMessage();
  EXPECT_EQ(traces->count(), 0u);
  client.write("POST /found HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhay nee");
  EXPECT(proxy.waitFor("http.in.downstream_rq_total", 2));
  client.write("dle");
  client.readMessage();
  EXPECT(proxy.waitUntil([&] { return traces->count() == 4; }));
  EXPECT(has(traces->at(0), "/found"));
  EXPECT(has(traces->at(1), "hay needle"));
  EXPECT(has(traces->at(2), ":status"));
  EXPECT(has(traces->at(3), "ok"));
}

TEST("A body that could go past user space does not where a tap wants to see it") {
  const std::string body(1 << 20, 'x');
  Origin origin(answering(body));
  const auto traces = std::make_shared<Traces>();
  plan::Tap tap = tapOf({});
  tap.max_response_body_bytes = 2 << 20;
  Proxy proxy(tapPlan(origin.port(), tap), 1, traces);
  EXPECT(get(proxy, "/").ends_with(body));
  EXPECT(proxy.waitUntil([&] { return traces->count() == 1; }));
  EXPECT(has(traces->at(0), body));
}

TEST("A share of requests is left out of the tap and counted") {
  Origin origin(answering("ok"));
  const auto traces = std::make_shared<Traces>();
  plan::Tap tap = tapOf({});
  tap.share_millionths = 0;
  Proxy proxy(tapPlan(origin.port(), tap), 1, traces);
  get(proxy, "/");
  EXPECT_EQ(proxy.stat("http.in.tap.rq_sampled_out"), 1u);
  EXPECT_EQ(traces->count(), 0u);
}

}  // namespace fairlead::test
