#include "upstream/zone_routing.h"

#include <cmath>

#include "test/native/test.h"
#include "test/native/upstream/fixtures.h"

namespace fairlead::upstream {

namespace {

using test::choose;
using test::Health;
using test::Hosts;
using Refusal = ZoneRouting::Refusal;
using Verdict = ZoneRouting::Verdict;

plan::ZoneRouting planOf(uint32_t min_size = 1) {
  plan::ZoneRouting plan;
  plan.enabled_millionths = 1'000'000;
  plan.min_cluster_size = min_size;
  return plan;
}

ZoneRouting route(const HostSet& hosts, const HostSet& local,
                  const plan::ZoneRouting& plan = planOf()) {
  return ZoneRouting(ZoneSettings(plan, nullptr), hosts, local);
}

// Of 10,000 requests.
std::map<Verdict, int> verdicts(const ZoneRouting& zones) {
  Random random(1);
  std::map<Verdict, int> counts;
  for (int i = 0; i < 10'000; ++i) ++counts[zones.choose(random).verdict];
  return counts;
}

}  // namespace

TEST("Localities are grouped by name, the proxy's own first, and weigh less with fewer hosts") {
  const HostSet set = Hosts()
                          .addIn("c", 10)
                          .addIn("b", 4)
                          .addIn("b", 4, Health::Unhealthy)
                          .addIn("a", 6, Health::Draining)
                          .addIn("a", 6)
                          .zones("b");
  const std::vector<LocalityHosts>& groups = set.priorities()[0].localities;
  EXPECT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].where.zone, "b");
  EXPECT_EQ(groups[1].where.zone, "a");
  EXPECT_EQ(groups[2].where.zone, "c");
  EXPECT(set.priorities()[0].has_local);
  EXPECT(std::abs(groups[0].healthy_weight - 4 * 0.7) < 1e-9);
  EXPECT_EQ(groups[1].healthy_weight, 6.0);
  EXPECT_EQ(groups[1].degraded_weight, 0.0);
  EXPECT(!Hosts().addIn("a").zones("z").priorities()[0].has_local);
}

TEST("Localities share by weight; one without a weight gets nothing") {
  const Hosts hosts = Hosts().addIn("a", 1).addIn("b", 3).addIn("b", 3).addIn("c");
  const BalancerSettings settings{.weighs_localities = true};
  const auto counts = choose(hosts.zones(""), settings, 4000);
  EXPECT(std::abs(counts.at(1) - 1000) <= 2);
  EXPECT(std::abs(counts.at(2) - 1500) <= 3);
  EXPECT(std::abs(counts.at(3) - 1500) <= 3);
  EXPECT_EQ(counts.count(4), 0u);
  // None has one: they count as one.
  const auto even = choose(Hosts().addIn("a").addIn("b").zones(""), settings, 100);
  EXPECT_EQ(even.at(1), 50);
}

TEST(
    "No request is routed by zone without two zones here and there, hosts of its own, and enough") {
  const HostSet local = Hosts().addIn("a").addIn("b").zones("a");
  const HostSet two = Hosts().addIn("a").addIn("b").zones("a");
  EXPECT(route(two, local).isActive());
  EXPECT(!route(Hosts().addIn("a").zones("a"), local).isActive());
  EXPECT(!route(two, Hosts().addIn("a").zones("a")).isActive());
  const ZoneRouting elsewhere = route(two, Hosts().addIn("b").addIn("c").zones("a"));
  EXPECT(!elsewhere.isActive());
  EXPECT(elsewhere.refusal() == Refusal::LocalClusterNotOk);
  const ZoneRouting small = route(two, local, planOf(3));
  EXPECT(!small.isActive());
  EXPECT(small.refusal() == Refusal::ClusterTooSmall);
}

TEST("All requests stay while their zone can take them") {
  const HostSet local = Hosts().addIn("a").addIn("b").zones("a");
  const HostSet hosts = Hosts().addIn("a").addIn("a").addIn("b").zones("a");
  EXPECT_EQ(verdicts(route(hosts, local)).at(Verdict::AllDirectly), 10'000);
  EXPECT_EQ(choose(hosts, {.zones = ZoneSettings(planOf(), nullptr)}, 100, &local).count(3), 0u);
}

TEST("What a zone cannot take goes where there is room") {
  // Half of the requests begin here, a quarter of the hosts are here: half of them stay.
  const HostSet local = Hosts().addIn("a").addIn("b").zones("a");
  const HostSet hosts = Hosts().addIn("a").addIn("b").addIn("b").addIn("c").zones("a");
  const auto counts = verdicts(route(hosts, local));
  EXPECT(std::abs(counts.at(Verdict::Sampled) - 5000) < 300);
  EXPECT(std::abs(counts.at(Verdict::CrossZone) - 5000) < 300);
  // b takes what its own proxies send.
  const auto chosen = choose(hosts, {.zones = ZoneSettings(planOf(), nullptr)}, 10'000, &local);
  EXPECT(std::abs(chosen.at(1) - 5000) < 300);
  EXPECT(std::abs(chosen.at(4) - 5000) < 300);
  EXPECT_EQ(chosen.count(2), 0u);
}

TEST("A zone that is forced keeps all its requests from so many hosts on") {
  const HostSet local = Hosts().addIn("a").zones("a");
  const HostSet hosts = Hosts().addIn("a").addIn("a").addIn("b").addIn("b").zones("a");
  plan::ZoneRouting plan = planOf();
  plan.forced_from = 2;
  EXPECT_EQ(verdicts(route(hosts, local, plan)).at(Verdict::AllDirectly), 10'000);
  plan.forced_from = 3;
  EXPECT_EQ(verdicts(route(hosts, local, plan)).count(Verdict::AllDirectly), 0u);
}

TEST("Zones count by their hosts' weights where that is asked for") {
  const HostSet local = Hosts().addIn("a").addIn("b").zones("a");
  const HostSet hosts = Hosts().addIn("a", 0, Health::Healthy, 3).addIn("b").addIn("b").zones("a");
  plan::ZoneRouting plan = planOf();
  EXPECT_EQ(verdicts(route(hosts, local, plan)).count(Verdict::AllDirectly), 0u);
  plan.by_weight = true;
  EXPECT_EQ(verdicts(route(hosts, local, plan)).at(Verdict::AllDirectly), 10'000);
}

TEST("Where the proxy's like are sick nobody is routed by zone, or nobody at all") {
  const HostSet local = Hosts()
                            .addIn("a")
                            .addIn("b", 0, Health::Unhealthy)
                            .addIn("b", 0, Health::Unhealthy)
                            .zones("a");
  const HostSet hosts = Hosts().addIn("a").addIn("b").zones("a");
  BalancerSettings settings{.zones = ZoneSettings(planOf(), nullptr)};
  const auto counts = choose(hosts, settings, 100, &local);
  EXPECT_EQ(counts.at(1), 50);
  settings.fails_in_panic = true;
  EXPECT_EQ(choose(hosts, settings, 100, &local).at(0), 100);
}

}  // namespace fairlead::upstream
