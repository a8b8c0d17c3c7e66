#include "test/native/support/proxy.h"

#include <chrono>
#include <thread>

#include "test/native/support/rough_transport.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

plan::Address onLoopback(uint16_t port) {
  plan::Address address;
  address.ip = std::string("\x7f\0\0\1", 4);
  address.port = port;
  return address;
}

plan::Update planWithoutListener(const std::vector<uint16_t>& hosts) {
  plan::Update update;
  plan::Cluster& cluster = update.clusters.emplace_back();
  cluster.name = "origin";
  cluster.connect_timeout_ms = 2000;
  cluster.per_connection_buffer_limit_bytes = 64 * 1024;
  cluster.max_response_headers_kb = 60;
  cluster.max_headers_count = 100;
  cluster.panic_threshold_pct = 50;
  cluster.limits.assign(2, {1024, 1024, 1024, 3, false, {}, {}, {}});
  update.assignments.push_back(hostsOn(hosts));
  return update;
}

plan::FilterChain& addListener(plan::Update& update) {
  plan::Listener& listener = update.listeners.emplace_back();
  listener.name = listener.stat_name = "in";
  listener.address = onLoopback(0);
  listener.reuse_port = true;
  listener.backlog = 128;
  listener.per_connection_buffer_limit_bytes = 64 * 1024;
  listener.max_connections = UINT64_MAX;
  return listener.filter_chains.emplace_back();
}

}  // namespace

plan::Assignment hostsOn(const std::vector<uint16_t>& ports) {
  plan::Assignment assignment;
  assignment.cluster_name = "origin";
  assignment.overprovisioning_factor_pct = 140;
  for (const uint16_t port : ports) {
    plan::Host& host = assignment.hosts.emplace_back();
    host.address = onLoopback(port);
    host.weight = 1;
  }
  return assignment;
}

plan::Update httpPlan(const std::vector<uint16_t>& hosts) {
  plan::Update update = planWithoutListener(hosts);
  plan::RouteTable& table = update.route_tables.emplace_back();
  table.name = "routes";
  plan::VirtualHost& all = table.virtual_hosts.emplace_back();
  all.name = "all";
  all.domains = {"*"};
  plan::Route& route = all.routes.emplace_back();
  route.match.emplace().path = "/";
  route.cluster.emplace().cluster = "origin";
  plan::HttpConnectionManager& http = addListener(update).http.emplace();
  http.stat_prefix = "in";
  http.route_table = table.name;
  http.router.emplace();
  http.server_name = "fairlead";
  http.max_request_headers_kb = 60;
  http.max_headers_count = 100;
  http.delayed_close_timeout_ms = 200;
  http.drain_timeout_ms = 100;
  http.stream_idle_timeout_ms = 30'000;
  return update;
}

plan::Update tcpPlan(const std::vector<uint16_t>& hosts) {
  plan::Update update = planWithoutListener(hosts);
  plan::TcpProxy& tcp = addListener(update).tcp.emplace();
  tcp.stat_prefix = "in";
  tcp.clusters.push_back({"origin", 1, {}});
  tcp.total_weight = 1;
  tcp.max_connect_attempts = 1;
  return update;
}

Proxy::Proxy(const plan::Update& plan, unsigned workers, std::shared_ptr<filters::TapSink> tap_sink)
    : Proxy(plan, worker::DataPlane::Options{.workers = workers, .tap_sink = std::move(tap_sink)}) {
}

Proxy::Proxy(const plan::Update& plan, worker::DataPlane::Options options)
    : data_plane_([&options] {
        options.transport = transportOfTests();
        return options;
      }()) {
  for (const worker::ApplyError& error : data_plane_.apply(plan)) {
    fail(__FILE__, __LINE__, error.message);
  }
  port_ = data_plane_.listeners().at(0).address.port();
  data_plane_.start();
}

Proxy::~Proxy() { stop(); }

uint64_t Proxy::stat(std::string_view name) { return data_plane_.stats().value(name).value_or(0); }

bool Proxy::waitUntil(const std::function<bool()>& holds) {
  for (int i = 0; i < 2000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

bool Proxy::waitForRefreshed(std::string_view stat, uint64_t value) {
  return waitUntil([&] {
    data_plane_.refreshStats();
    return this->stat(stat) == value;
  });
}

bool Proxy::waitFor(std::string_view stat, uint64_t value) {
  if (waitUntil([&] { return this->stat(stat) == value; })) return true;
  std::fprintf(stderr, "  %.*s is %llu\n", static_cast<int>(stat.size()), stat.data(),
               static_cast<unsigned long long>(this->stat(stat)));
  return false;
}

void Proxy::expectQuiet() {
  for (const char* gauge : {"listener.in.downstream_cx_active", "http.in.downstream_cx_active",
                            "http.in.downstream_rq_active", "cluster.origin.upstream_rq_active",
                            "cluster.origin.upstream_rq_pending_active"}) {
    EXPECT(waitFor(gauge, 0));
  }
}

void Proxy::expectNothingHeld() {
  expectQuiet();
  EXPECT_EQ(stat("cluster.origin.upstream_cx_active"), 0u);
  EXPECT_EQ(stat("cluster.origin.upstream_cx_rx_bytes_buffered"), 0u);
  EXPECT_EQ(stat("http.in.downstream_cx_rx_bytes_buffered"), 0u);
  EXPECT_EQ(stat("listener.in.downstream_cx_total"), stat("listener.in.downstream_cx_destroy"));
  EXPECT_EQ(stat("cluster.origin.upstream_cx_destroy"),
            stat("cluster.origin.upstream_cx_destroy_local") +
                stat("cluster.origin.upstream_cx_destroy_remote"));
  for (const auto& [name, cluster] : data_plane_.clusters()) {
    for (uint32_t priority = 0; priority < 2; ++priority) {
      const upstream::Limits& limits = cluster->limits(priority);
      EXPECT_EQ(limits.connections.used(), 0u);
      EXPECT_EQ(limits.pending_requests.used(), 0u);
      EXPECT_EQ(limits.requests.used(), 0u);
      EXPECT_EQ(limits.connection_pools.used(), 0u);
    }
    for (const auto& host : cluster->hosts()->hosts()) {
      EXPECT_EQ(host->sum(&upstream::HostCounters::cx_active), 0u);
      EXPECT_EQ(host->sum(&upstream::HostCounters::rq_active), 0u);
      EXPECT_EQ(host->sum(&upstream::HostCounters::rq_pending_active), 0u);
    }
  }
}

void Proxy::shed(plan::OverloadLevel::Subject point) {
  plan::Update update;
  update.overload.emplace().levels.push_back({point, 1'000'000});
  EXPECT(data_plane_.apply(std::move(update)).empty());
}

void Proxy::stop() {
  if (stopped_) return;
  stopped_ = true;
  data_plane_.stop();
  expectNothingHeld();
}

}  // namespace fairlead::test
