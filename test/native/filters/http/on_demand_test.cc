// Requests that wait until the control plane has been asked for what they need.
#include <malloc.h>

#include "filters/http/demand_waiters.h"
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using DemandKind = plan::Demand::Kind;

plan::OnDemandClusters fromPlace(uint32_t source, uint64_t timeout_ms = 0) {
  plan::OnDemandClusters clusters;
  clusters.source = source;
  clusters.timeout_ms = timeout_ms;
  return clusters;
}

// Of requests to a cluster that is not there.
plan::Update lackingCluster(uint16_t port, std::optional<plan::OnDemandClusters> clusters) {
  plan::Update plan = httpPlan({port});
  plan.route_tables[0].virtual_hosts[0].routes[0].cluster->cluster = "later";
  plan::OnDemandFilter& filter = managerOf(plan).http_filters.emplace_back().on_demand.emplace();
  if (clusters) filter.clusters = *clusters;
  return plan;
}

// That cluster, at last.
plan::Update clusterAtLast(const plan::Update& plan) {
  plan::Update update;
  update.clusters = plan.clusters;
  update.assignments = plan.assignments;
  update.clusters[0].name = update.assignments[0].cluster_name = "later";
  return update;
}

// What is asked for once anything is.
std::set<filters::DemandKey> demandsOf(Proxy& proxy) {
  std::set<filters::DemandKey> demands;
  EXPECT(proxy.waitUntil([&] {
    demands = proxy.dataPlane().takeDemands();
    return !demands.empty();
  }));
  return demands;
}

bool isOnly(const std::set<filters::DemandKey>& demands, DemandKind kind, const std::string& name,
            uint32_t source) {
  if (demands.size() != 1) return false;
  const filters::DemandKey& only = *demands.begin();
  return only.kind == kind && only.name == name && only.source == source;
}

}  // namespace

TEST("Requests for a cluster that is not there wait for it, all of them, and go on with it") {
  Origin origin(answering("origin"));
  const plan::Update plan = lackingCluster(origin.port(), fromPlace(3));
  Proxy proxy(plan);
  Socket first = proxy.connect();
  Socket second = proxy.connect();
  for (Socket* client : {&first, &second}) {
    client->write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nhello");
  }
  EXPECT(proxy.waitFor("http.in.downstream_rq_active", 2));
  EXPECT(isOnly(demandsOf(proxy), DemandKind::Cluster, "later", 3));
  plan::Update update = clusterAtLast(plan);
  update.met_demands.push_back({DemandKind::Cluster, "later", 3});
  EXPECT(proxy.dataPlane().apply(update).empty());
  for (Socket* client : {&first, &second}) EXPECT(client->readMessage().ends_with("origin"));
  // It is there now: nobody waits any more.
  EXPECT(get(proxy, "/").ends_with("origin"));
  EXPECT(proxy.dataPlane().takeDemands().empty());
}

TEST("One that does not come in time, or not at all, is answered as one that is not there") {
  Origin origin(answering("origin"));
  Proxy proxy(lackingCluster(origin.port(), fromPlace(1, 20)));
  EXPECT(get(proxy, "/").starts_with("HTTP/1.1 503 "));
  EXPECT(isOnly(demandsOf(proxy), DemandKind::Cluster, "later", 1));
  Socket client = proxy.connect();
  client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  demandsOf(proxy);
  plan::Update update;
  update.met_demands.push_back({DemandKind::Cluster, "later", 1});
  EXPECT(proxy.dataPlane().apply(update).empty());
  EXPECT(client.readMessage().starts_with("HTTP/1.1 503 "));
}

TEST("Clients that leave while they wait leave nothing behind") {
  Origin origin(answering("origin"));
  const plan::Update plan = lackingCluster(origin.port(), fromPlace(1, 60'000));
  Proxy proxy(plan);
  {
    Socket client = proxy.connect();
    client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    demandsOf(proxy);
  }
  EXPECT(proxy.waitFor("http.in.downstream_rq_active", 0));
  plan::Update update = clusterAtLast(plan);
  update.met_demands.push_back({DemandKind::Cluster, "later", 1});
  EXPECT(proxy.dataPlane().apply(update).empty());
  EXPECT(proxy.waitUntil([&] { return get(proxy, "/").ends_with("origin"); }));
}

TEST("Nobody is asked where neither the filter nor the route says whom, or the route says nobody") {
  for (const bool by_route : {false, true}) {
    Origin origin(answering("origin"));
    plan::Update plan =
        lackingCluster(origin.port(), by_route ? std::optional(fromPlace(1)) : std::nullopt);
    if (by_route) {
      plan::FilterConfig config;
      config.on_demand.emplace();
      sayOnRoute(plan, 0, std::move(config));
    }
    Proxy proxy(plan);
    EXPECT(get(proxy, "/").starts_with("HTTP/1.1 503 "));
    EXPECT(proxy.dataPlane().takeDemands().empty());
  }
}

TEST("A route says of its own whom to ask, by the name that a header has") {
  Origin origin(answering("origin"));
  plan::Update plan = lackingCluster(origin.port(), std::nullopt);
  plan::ClusterAction& action = *plan.route_tables[0].virtual_hosts[0].routes[0].cluster;
  action.cluster = "";
  action.cluster_header = "x-cluster";
  plan::FilterConfig config;
  config.on_demand.emplace().clusters = fromPlace(9);
  sayOnRoute(plan, 0, std::move(config));
  Proxy proxy(plan);
  EXPECT(get(proxy, "/").starts_with("HTTP/1.1 503 "));
  EXPECT(get(proxy, "/", "x-cluster: origin\r\n").ends_with("origin"));
  EXPECT(proxy.dataPlane().takeDemands().empty());
  Socket client = proxy.connect();
  client.write("GET / HTTP/1.1\r\nhost: a\r\nx-cluster: later\r\n\r\n");
  EXPECT(isOnly(demandsOf(proxy), DemandKind::Cluster, "later", 9));
  plan::Update update = clusterAtLast(plan);
  update.met_demands.push_back({DemandKind::Cluster, "later", 9});
  EXPECT(proxy.dataPlane().apply(update).empty());
  EXPECT(client.readMessage().ends_with("origin"));
}

TEST(
    "Virtual hosts are asked for by the table's name and the host's, and the request begins anew") {
  for (const bool comes : {true, false}) {
    Origin origin(answering("origin"));
    plan::Update plan = httpPlan({origin.port()});
    plan.route_tables[0].asks_for_hosts_as = "table";
    plan.route_tables[0].virtual_hosts[0].domains = {"known"};
    managerOf(plan).http_filters.emplace_back().on_demand.emplace();
    Proxy proxy(plan);
    Socket client = proxy.connect();
    client.write("GET / HTTP/1.1\r\nhost: Later.Test:81\r\n\r\n");
    EXPECT(isOnly(demandsOf(proxy), DemandKind::VirtualHost, "table/later.test:81", 0));
    plan::Update update;
    update.met_demands.push_back({DemandKind::VirtualHost, "table/later.test:81", 0});
    if (comes) {
      update.route_tables = plan.route_tables;
      update.route_tables[0].virtual_hosts[0].domains = {"later.test:81"};
    }
    EXPECT(proxy.dataPlane().apply(update).empty());
    EXPECT(client.readMessage().starts_with(comes ? "HTTP/1.1 200 " : "HTTP/1.1 404 "));
  }
}

TEST("Waiters that leave are forgotten, however many names they waited for; others are not") {
  struct Waiter final : filters::OnDemandWaiter {
    void onMet() override { is_met = true; }
    bool is_met = false;
  };
  filters::Demands demands(nullptr);
  const filters::DemandWaiters waiters(1, demands);
  Waiter staying;
  waiters.wait(0, {DemandKind::Cluster, 1, "staying"}, &staying);
  const size_t before = ::mallinfo2().uordblks;
  for (int i = 0; i < 50'000; ++i) {
    Waiter leaving;
    waiters.wait(0, {DemandKind::Cluster, 1, "leaving-" + std::to_string(i)}, &leaving);
    leaving.unlink();
  }
  // Nobody is asked for more than 10,000 at a time.
  EXPECT_EQ(demands.take().size(), 10'000u);
  EXPECT(::mallinfo2().uordblks < before + 512 * 1024);
  for (const auto& waiting : demands.waiting()) {
    waiting->onMet(0, {DemandKind::Cluster, 1, "staying"});
  }
  EXPECT(staying.is_met);
}

}  // namespace fairlead::test
