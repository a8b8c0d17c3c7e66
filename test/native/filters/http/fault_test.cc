// Faults that are injected: how long, what, how slowly, and for whom.
#include <chrono>

#include "filters/http/fault_headers.h"
#include "test/native/support/exchange.h"
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

const plan::FaultShare kAlways{100, 10'000, std::nullopt};

plan::Update withFault(uint16_t port, const plan::FaultSettings& fault) {
  plan::Update plan = httpPlan({port});
  managerOf(plan).http_filters.emplace_back();
  managerOf(plan).http_filters[0].fault = fault;
  return plan;
}

plan::FaultSettings delaying(uint64_t ms) {
  plan::FaultSettings fault;
  fault.delay.emplace();
  fault.delay->share = kAlways;
  fault.delay->fixed_ms = ms;
  return fault;
}

plan::FaultSettings abortingWith(std::optional<uint32_t> http, std::optional<uint32_t> grpc = {}) {
  plan::FaultSettings fault;
  fault.abort.emplace();
  fault.abort->share = kAlways;
  fault.abort->http_status = http;
  fault.abort->grpc_status = grpc;
  return fault;
}

plan::FaultSettings slowing(uint64_t kbps) {
  plan::FaultSettings fault;
  fault.response_rate.emplace();
  fault.response_rate->share = kAlways;
  fault.response_rate->fixed_kbps = kbps;
  return fault;
}

// Timers count whole milliseconds: what they waited may be one less by a finer clock.
uint64_t msSince(std::chrono::steady_clock::time_point begin) {
  const auto elapsed = std::chrono::steady_clock::now() - begin;
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count());
}

}  // namespace

TEST("A request is aborted in place of a host") {
  Origin origin(answering("origin"));
  Proxy proxy(withFault(origin.port(), abortingWith(555)));
  const std::string answer = get(proxy, "/");
  EXPECT(answer.starts_with("HTTP/1.1 555 "));
  EXPECT(answer.ends_with("fault filter abort"));
  EXPECT_EQ(proxy.stat("http.in.fault.aborts_injected"), 1u);
  EXPECT_EQ(origin.connections(), 0);
  EXPECT(proxy.waitFor("http.in.fault.active_faults", 0));
}

TEST("An abort may have words of its own") {
  Origin origin(test::answering("origin"));
  plan::FaultSettings fault = abortingWith(503);
  fault.abort->body = "away";
  Proxy proxy(withFault(origin.port(), fault));
  const std::string answer = get(proxy, "/");
  EXPECT(has(answer, "content-length: 4\r\n"));
  EXPECT(answer.ends_with("\r\n\r\naway"));
}

TEST("A gRPC request is aborted with its own status, another one with 200") {
  Origin origin(answering("origin"));
  Proxy proxy(withFault(origin.port(), abortingWith(std::nullopt, 5)));
  const std::string grpc = get(proxy, "/", "content-type: application/grpc\r\n");
  EXPECT(has(grpc, "grpc-status: 5\r\n"));
  EXPECT(has(grpc, "grpc-message: fault filter abort\r\n"));
  EXPECT(has(get(proxy, "/", "content-type: application/grpc+json\r\n"), "grpc-status: 5\r\n"));
  EXPECT(!has(get(proxy, "/", "content-type: application/grpc-web\r\n"), "grpc-status"));
  const std::string plain = get(proxy, "/");
  EXPECT(plain.starts_with("HTTP/1.1 200 "));
  EXPECT(plain.ends_with("fault filter abort"));
}

TEST("A request waits its time with its body, then goes on as it was") {
  Origin origin([](Socket& socket, int) {
    const std::string message = socket.readMessage();
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: " + std::to_string(message.size()) +
                 "\r\n\r\n" + message);
  });
  Proxy proxy(withFault(origin.port(), delaying(100)));
  Socket client = proxy.connect();
  const auto begin = std::chrono::steady_clock::now();
  client.write("POST /p HTTP/1.1\r\nhost: a\r\nx-own: 1\r\ncontent-length: 6\r\n\r\nabc");
  EXPECT(proxy.waitFor("http.in.fault.active_faults", 1));
  client.write("def");
  const std::string answer = client.readMessage();
  EXPECT(msSince(begin) >= 99);
  EXPECT(has(answer, "POST /p HTTP/1.1\r\n"));
  EXPECT(has(answer, "x-own: 1\r\n"));
  EXPECT(answer.ends_with("\r\n\r\nabcdef"));
  EXPECT_EQ(proxy.stat("http.in.fault.delays_injected"), 1u);
  EXPECT_EQ(proxy.stat("http.in.fault.active_faults"), 0u);
}

TEST("Chunks and trailers that waited come after their head") {
  Origin origin([](Socket& socket, int) {
    const std::string message = socket.readUntil("\r\n0\r\nx-t: 1\r\n\r\n");
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n" +
                 std::string(has(message, "abc") ? "ok" : "no"));
  });
  plan::Update plan = withFault(origin.port(), delaying(50));
  managerOf(plan).enable_trailers = plan.clusters[0].enable_trailers = true;
  Proxy proxy(plan);
  Socket client = proxy.connect();
  client.write(
      "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n0\r\nx-t: 1\r\n\r\n");
  EXPECT(client.readMessage().starts_with("HTTP/1.1 200 OK\r\n"));
}

TEST("A body that waits is read up to the limit, and all of it goes on") {
  Origin origin([](Socket& socket, int) {
    socket.readUntil("\r\n\r\n");
    const uint64_t bytes = socket.discard(8'000'000);
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n" + std::to_string(bytes));
  });
  plan::Update plan = withFault(origin.port(), delaying(200));
  plan.listeners[0].per_connection_buffer_limit_bytes = 65'536;
  Proxy proxy(plan);
  Socket client = proxy.connect();
  client.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 8000000\r\n\r\n" +
               std::string(8'000'000, 'x'));
  EXPECT(client.readMessage().ends_with("8000000"));
  EXPECT(proxy.stat("http.in.downstream_flow_control_paused_reading_total") >= 1);
}

TEST("A client that does not wait for its delayed answer leaves nothing behind") {
  Origin origin(answering("origin"));
  Proxy proxy(withFault(origin.port(), delaying(60'000)));
  {
    Socket client = proxy.connect();
    client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    EXPECT(proxy.waitFor("http.in.fault.active_faults", 1));
  }
  EXPECT(proxy.waitFor("http.in.fault.active_faults", 0));
  EXPECT_EQ(origin.connections(), 0);
}

TEST("Headers say how long and how, where the configuration leaves it to them") {
  Origin origin(answering("origin"));
  plan::FaultSettings fault = abortingWith(std::nullopt);
  fault.delay.emplace();
  fault.delay->share = kAlways;
  Proxy proxy(withFault(origin.port(), fault));
  EXPECT(has(get(proxy, "/"), "origin"));
  EXPECT(get(proxy, "/", "x-envoy-fault-abort-request: 503\r\n").starts_with("HTTP/1.1 503 "));
  EXPECT(has(get(proxy, "/", "x-envoy-fault-abort-request: 600\r\n"), "origin"));
  EXPECT(has(get(proxy, "/", "x-envoy-fault-abort-request: abc\r\n"), "origin"));
  const std::string none = "x-envoy-fault-abort-request-percentage: 0\r\n";
  EXPECT(has(get(proxy, "/", none + "x-envoy-fault-abort-request: 503\r\n"), "origin"));
  EXPECT_EQ(proxy.stat("http.in.fault.delays_injected"), 0u);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT(has(get(proxy, "/", "x-envoy-fault-delay-request: 50\r\n"), "origin"));
  EXPECT(msSince(begin) >= 49);
  EXPECT_EQ(proxy.stat("http.in.fault.delays_injected"), 1u);
}

TEST("How often there are faults is said by headers only where they say what faults") {
  Origin origin(answering("origin"));
  Proxy proxy(withFault(origin.port(), abortingWith(503)));
  const std::string none = "x-envoy-fault-abort-request-percentage: 0\r\n";
  EXPECT(get(proxy, "/", none).starts_with("HTTP/1.1 503 "));
}

TEST("An answer is slowed down, and loses nothing") {
  Origin origin([](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 40960\r\n\r\n" + std::string(40'960, 'x'));
    }
  });
  // 10,240 bytes at once, and 10,240 with each tick.
  Proxy proxy(withFault(origin.port(), slowing(200)));
  const auto begin = std::chrono::steady_clock::now();
  const std::string answer = get(proxy, "/");
  EXPECT(msSince(begin) >= 140);
  EXPECT_EQ(answer.size() - answer.find("\r\n\r\n") - 4, 40'960u);
  EXPECT_EQ(proxy.stat("http.in.fault.response_rl_injected"), 1u);
  EXPECT(proxy.waitFor("http.in.fault.active_faults", 0));
}

TEST("The head of an answer whose body waits goes out at once, and to its own client") {
  Origin origin(answering("own"));
  Proxy proxy(withFault(origin.port(), slowing(1)));
  Socket slow = proxy.connect();
  slow.write(kGet);
  EXPECT(slow.readUntil("\r\n\r\n").starts_with("HTTP/1.1 200"));
  Socket other = proxy.connect();
  other.write(kGet);
  EXPECT(other.readMessage().ends_with("\r\n\r\nown"));
  EXPECT_EQ(slow.readExactly(3), "own");
}

TEST("A slow answer pauses its host at the limit; its trailers come last") {
  Origin origin([](Socket& socket, int) {
    socket.readMessage();
    socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    for (int i = 0; i < 10; ++i) socket.write("10000\r\n" + std::string(65'536, 'x') + "\r\n");
    socket.write("0\r\nx-t: 1\r\n\r\n");
  });
  plan::Update plan = withFault(origin.port(), slowing(3000));
  plan.listeners[0].per_connection_buffer_limit_bytes = 65'536;
  managerOf(plan).enable_trailers = plan.clusters[0].enable_trailers = true;
  Proxy proxy(plan);
  Socket client = proxy.connect();
  client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  const std::string answer = client.readUntil("\r\n0\r\nx-t: 1\r\n\r\n");
  EXPECT(answer.size() > 655'360);
  EXPECT(answer.ends_with("x-t: 1\r\n\r\n"));
  EXPECT(proxy.stat("cluster.origin.upstream_flow_control_paused_reading_total") >= 1);
  client.close();
  EXPECT(proxy.waitFor("http.in.fault.active_faults", 0));
}

TEST("No more requests have faults at once than may") {
  Origin origin(answering("origin"));
  plan::FaultSettings fault = delaying(60'000);
  fault.max_active_faults = 1;
  Proxy proxy(withFault(origin.port(), fault));
  Socket waiting = proxy.connect();
  waiting.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  EXPECT(proxy.waitFor("http.in.fault.active_faults", 1));
  EXPECT(has(get(proxy, "/"), "origin"));
  EXPECT_EQ(proxy.stat("http.in.fault.faults_overflow"), 1u);
  waiting.close();
  EXPECT(proxy.waitFor("http.in.fault.active_faults", 0));
}

TEST("Faults are for the cluster, the nodes and the headers that they name") {
  Origin origin(answering("origin"));
  plan::FaultSettings fault = abortingWith(503);
  fault.upstream_cluster = "other";
  {
    Proxy proxy(withFault(origin.port(), fault));
    EXPECT(has(get(proxy, "/"), "origin"));
  }
  fault.upstream_cluster = "origin";
  fault.downstream_nodes = {"a", "b"};
  fault.headers.push_back(pathIs("/fault"));
  Proxy proxy(withFault(origin.port(), fault));
  const std::string node = "x-envoy-downstream-service-node: b\r\n";
  EXPECT(get(proxy, "/fault", node).starts_with("HTTP/1.1 503 "));
  EXPECT(has(get(proxy, "/other", node), "origin"));
  EXPECT(has(get(proxy, "/fault", "x-envoy-downstream-service-node: c\r\n"), "origin"));
  EXPECT(has(get(proxy, "/fault"), "origin"));
}

TEST("A runtime key goes before the settings, and one of the downstream cluster in place of it") {
  Origin origin(answering("origin"));
  plan::FaultSettings fault = abortingWith(503);
  fault.abort->override_http_status = plan::RuntimeOverride{501, 0};
  plan::Update plan = withFault(origin.port(), fault);
  plan.fault_runtimes.resize(2);
  plan.fault_runtimes[0].cluster = "shop";
  plan.fault_runtimes[0].abort_share = 0;
  plan.fault_runtimes[1].cluster = "till";
  plan.fault_runtimes[1].http_status = 502;
  Proxy proxy(plan);
  const auto from = [&](const std::string& cluster) {
    return get(proxy, "/", "x-envoy-downstream-service-cluster: " + cluster + "\r\n");
  };
  EXPECT(get(proxy, "/").starts_with("HTTP/1.1 501 "));
  EXPECT(has(from("shop"), "origin"));
  EXPECT(from("till").starts_with("HTTP/1.1 502 "));
  EXPECT(from("other").starts_with("HTTP/1.1 503 "));

  plan::Update later;
  later.fault_runtimes.resize(2);
  later.fault_runtimes[0].cluster = "shop";
  later.fault_runtimes[1].cluster = "other";
  later.fault_runtimes[1].http_status = 504;
  EXPECT(proxy.dataPlane().apply(later).empty());
  EXPECT(from("shop").starts_with("HTTP/1.1 503 "));
  EXPECT(from("till").starts_with("HTTP/1.1 502 "));
  EXPECT(from("other").starts_with("HTTP/1.1 504 "));
}

TEST("Faults are counted by the downstream cluster, too, unless they are not to be") {
  Origin origin(answering("origin"));
  plan::FaultSettings fault = abortingWith(503);
  fault.delay = delaying(1).delay;
  plan::Update plan = withFault(origin.port(), fault);
  plan::RouteTable& table = plan.route_tables[0];
  table.filter_configs.resize(1);
  table.filter_configs[0].fault = abortingWith(503);
  table.filter_configs[0].fault->disable_downstream_cluster_stats = true;
  plan::Route quiet = table.virtual_hosts[0].routes[0];
  quiet.match->path = "/quiet";
  quiet.filters = {{0, false, {0}}};
  table.virtual_hosts[0].routes.insert(table.virtual_hosts[0].routes.begin(), quiet);
  Proxy proxy(plan);
  const auto count = [&](const std::string& name) {
    proxy.dataPlane().refreshStats();
    return proxy.dataPlane().stats().value("http.in.fault." + name);
  };
  EXPECT(!count("shop.aborts_injected"));
  for (int i = 0; i < 2; ++i) get(proxy, "/", "x-envoy-downstream-service-cluster: shop\r\n");
  get(proxy, "/", "x-envoy-downstream-service-cluster: till.north\r\n");
  get(proxy, "/quiet", "x-envoy-downstream-service-cluster: shop\r\n");
  get(proxy, "/", "x-envoy-downstream-service-cluster:\r\n");
  EXPECT_EQ(count("shop.aborts_injected").value_or(0), 2u);
  EXPECT_EQ(count("shop.delays_injected").value_or(0), 2u);
  EXPECT_EQ(count("till.north.aborts_injected").value_or(0), 1u);
  EXPECT_EQ(count("aborts_injected").value_or(0), 5u);
}

TEST("However many downstream clusters requests make up, a thousand are counted") {
  Origin origin(answering("origin"));
  Proxy proxy(withFault(origin.port(), abortingWith(503)));
  Socket client = proxy.connect();
  for (int i = 0; i < 1001; ++i) {
    client.write("GET / HTTP/1.1\r\nhost: a\r\nx-envoy-downstream-service-cluster: c" +
                 std::to_string(i) + "\r\n\r\n");
    client.readMessage();
  }
  proxy.dataPlane().refreshStats();
  EXPECT_EQ(proxy.stat("http.in.fault.c999.aborts_injected"), 1u);
  EXPECT(!proxy.dataPlane().stats().value("http.in.fault.c1000.aborts_injected"));
}

TEST("Numbers of headers are whole and decimal, or not there") {
  using filters::faultNumber;
  EXPECT_EQ(*faultNumber("100", UINT64_MAX), 100u);
  EXPECT_EQ(*faultNumber(" +7 ", UINT64_MAX), 7u);
  EXPECT_EQ(*faultNumber("18446744073709551615", UINT64_MAX), UINT64_MAX);
  EXPECT(!faultNumber("18446744073709551616", UINT64_MAX));
  EXPECT(!faultNumber("4294967296", UINT32_MAX));
  for (const char* wrong : {"", "-1", "1.5", "0x10", "++1", "+", "1 2", "abc"}) {
    EXPECT(!faultNumber(wrong, UINT64_MAX));
  }
}

}  // namespace fairlead::test
