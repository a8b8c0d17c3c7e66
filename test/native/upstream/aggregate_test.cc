// Clusters whose requests go to the hosts of others.
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

plan::Cluster clusterNamed(const plan::Update& like, const std::string& name) {
  plan::Cluster cluster = like.clusters[0];
  cluster.name = cluster.observability_name = name;
  return cluster;
}

plan::Assignment hostsOf(const std::string& cluster, uint16_t port,
                         plan::Host::Health health = plan::Host::Health::Healthy,
                         uint32_t priority = 0) {
  plan::Assignment hosts = hostsOn({port});
  hosts.cluster_name = cluster;
  hosts.hosts[0].health = health;
  hosts.hosts[0].priority = priority;
  return hosts;
}

// "origin" has these members, and no hosts.
plan::Update aggregateOf(const std::vector<std::string>& members) {
  plan::Update plan = httpPlan({});
  plan.assignments.clear();
  for (const std::string& member : members) {
    plan::Cluster cluster = clusterNamed(plan, member);
    cluster.panic_threshold_pct = 0;
    plan.clusters.push_back(std::move(cluster));
  }
  plan.clusters[0].members = members;
  return plan;
}

}  // namespace

TEST("The first member has all requests while its hosts are well, then the second") {
  Origin first(answering("first"));
  Origin second(answering("second"));
  plan::Update plan = aggregateOf({"a", "b"});
  plan.assignments = {hostsOf("a", first.port()), hostsOf("b", second.port())};
  Proxy proxy(plan);
  EXPECT(has(get(proxy, "/"), "first"));
  plan::Update sick;
  sick.assignments = {hostsOf("a", first.port(), plan::Host::Health::Unhealthy)};
  proxy.dataPlane().apply(sick);
  EXPECT(proxy.waitFor("cluster.a.membership_healthy", 0));
  EXPECT(has(get(proxy, "/"), "second"));
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_total"), 0u);
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_200"), 2u);
  EXPECT_EQ(proxy.stat("cluster.a.upstream_rq_total"), 1u);
  EXPECT_EQ(proxy.stat("cluster.b.upstream_rq_total"), 1u);
}

TEST("Priorities of the first member come before those of the second") {
  Origin lower(answering("lower"));
  Origin second(answering("second"));
  plan::Update plan = aggregateOf({"a", "b"});
  plan::Assignment hosts = hostsOf("a", 1, plan::Host::Health::Unhealthy);
  hosts.hosts.push_back(hostsOf("a", lower.port(), plan::Host::Health::Healthy, 1).hosts[0]);
  plan.assignments = {std::move(hosts), hostsOf("b", second.port())};
  Proxy proxy(plan);
  for (int i = 0; i < 5; ++i) EXPECT(has(get(proxy, "/"), "lower"));
}

TEST(
    "Without a member, or with members that have no host, there is none, which the aggregate "
    "counts") {
  Proxy none(aggregateOf({}));
  plan::Update plan = aggregateOf({"a"});
  Proxy empty(plan);
  EXPECT(get(empty, "/").starts_with("HTTP/1.1 503 "));
  EXPECT_EQ(empty.stat("cluster.origin.upstream_cx_none_healthy"), 1u);
  EXPECT_EQ(empty.stat("cluster.a.upstream_cx_none_healthy"), 0u);
}

TEST("A member that comes later has its share, and one that goes has none") {
  Origin first(answering("first"));
  Origin second(answering("second"));
  plan::Update plan = aggregateOf({"b"});
  plan.clusters[0].members = {"a", "b"};
  plan.assignments = {hostsOf("b", second.port())};
  Proxy proxy(plan);
  EXPECT(has(get(proxy, "/"), "second"));
  plan::Update comes;
  comes.clusters = {clusterNamed(plan, "a")};
  comes.clusters[0].members.clear();
  comes.assignments = {hostsOf("a", first.port())};
  proxy.dataPlane().apply(comes);
  EXPECT(proxy.waitUntil([&] { return has(get(proxy, "/"), "first"); }));
  plan::Update goes;
  goes.removed_clusters = {"a"};
  proxy.dataPlane().apply(goes);
  EXPECT(proxy.waitUntil([&] { return has(get(proxy, "/"), "second"); }));
}

}  // namespace fairlead::test
