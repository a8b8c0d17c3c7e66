#include "upstream/balancer.h"

#include "test/native/test.h"
#include "test/native/upstream/fixtures.h"
#include "upstream/slow_start.h"

namespace fairlead::upstream {

namespace {

using Kind = plan::Cluster::Balancer;
using test::choose;
using test::Health;
using test::Hosts;

}  // namespace

TEST("Round robin takes every host in turn; weights share exactly") {
  const HostSet even = Hosts().add().add().add().set();
  for (const auto& [port, count] : choose(even, {.kind = Kind::RoundRobin}, 300))
    EXPECT_EQ(count, 100);
  const HostSet weighted = Hosts().add(1).add(2).add(5).set();
  const auto counts = choose(weighted, {.kind = Kind::RoundRobin}, 800);
  EXPECT(std::abs(counts.at(1) - 100) <= 2);
  EXPECT(std::abs(counts.at(2) - 200) <= 2);
  EXPECT(std::abs(counts.at(3) - 500) <= 2);
}

TEST("Random takes every host, about as often") {
  const auto counts = choose(Hosts().add().add().set(), {.kind = Kind::Random}, 4000);
  EXPECT(std::abs(counts.at(1) - 2000) < 300);
}

TEST("Least request avoids the host that is busy, and with a full scan always takes the idle one") {
  Hosts hosts;
  hosts.add().add().add();
  hosts.at(0).counters(0).rq_active.add(10);
  hosts.at(1).counters(0).rq_active.add(10);
  const HostSet set = hosts.set();
  EXPECT_EQ(choose(set, {.kind = Kind::LeastRequest, .full_scan = true}, 100).at(3), 100);
  const auto counts = choose(set, {.kind = Kind::LeastRequest, .full_scan = false}, 900);
  // Drawn at least once in two: 5 of 9.
  EXPECT(counts.at(3) > 400);
}

TEST("Nobody is chosen where there is nobody") {
  EXPECT_EQ(choose(Hosts().set(), {.kind = Kind::RoundRobin}, 3).at(0), 3);
  Random random;
  const BalancerSettings settings;
  Balancer balancer(settings, 0, random);
  EXPECT(balancer.choose().host == nullptr);
}

TEST("Healthy hosts take all while they can; what they cannot take goes to degraded ones") {
  const HostSet one_of_two = Hosts().add().add(1, 0, Health::Unhealthy).add().set(0);
  EXPECT_EQ(choose(one_of_two, {.kind = Kind::RoundRobin}, 300).count(2), 0u);
  const HostSet half = Hosts().add().add(1, 0, Health::Degraded).set();
  const auto counts = choose(half, {.kind = Kind::RoundRobin}, 4000);
  // 140 % of one half: 70 % to the healthy one.
  EXPECT(std::abs(counts.at(1) - 2800) < 300);
  EXPECT_EQ(counts.at(1) + counts.at(2), 4000);
}

TEST("Below the panic threshold health is ignored; a threshold of 0 never panics") {
  Hosts sick;
  sick.add();
  for (int i = 0; i < 3; ++i) sick.add(1, 0, Health::Unhealthy);
  EXPECT_EQ(choose(sick.set(50), {.kind = Kind::RoundRobin}, 400).at(2), 100);
  EXPECT_EQ(choose(sick.set(0), {.kind = Kind::RoundRobin}, 400).at(1), 400);
  const HostSet all_sick = Hosts().add(1, 0, Health::Unhealthy).set(0);
  EXPECT_EQ(choose(all_sick, {.kind = Kind::RoundRobin}, 5).at(0), 5);
}

TEST("A later priority gets what the earlier ones cannot take") {
  const HostSet spill = Hosts().add().add(1, 0, Health::Unhealthy).add(1, 1).set();
  const auto counts = choose(spill, {.kind = Kind::RoundRobin}, 4000);
  EXPECT(std::abs(counts.at(1) - 2800) < 300);
  EXPECT(std::abs(counts.at(3) - 1200) < 300);
  EXPECT_EQ(counts.count(2), 0u);
  const HostSet failed_over = Hosts().add(1, 0, Health::Unhealthy).add(1, 1).set();
  EXPECT_EQ(choose(failed_over, {.kind = Kind::RoundRobin}, 50).at(2), 50);
}

TEST("A host set counts health, and its loads are always 100 in all") {
  const HostSet set = Hosts()
                          .add(3)
                          .add(1, 0, Health::Draining)
                          .add(1, 2, Health::Degraded)
                          .add(7, 2, Health::Timeout)
                          .set();
  EXPECT_EQ(set.healthyCount(), 1u);
  EXPECT_EQ(set.degradedCount(), 1u);
  EXPECT_EQ(set.excludedCount(), 1u);
  EXPECT_EQ(set.maxWeight(), 7u);
  EXPECT_EQ(set.priorities().size(), 3u);
  Random random;
  for (int round = 0; round < 500; ++round) {
    Hosts hosts;
    for (uint64_t i = random.below(9); i > 0; --i) {
      hosts.add(1, static_cast<uint32_t>(random.below(3)), static_cast<Health>(random.below(5)));
    }
    uint32_t sum = 0;
    const HostSet any = hosts.set(static_cast<uint32_t>(random.below(101)));
    for (const PriorityHosts& part : any.priorities()) {
      sum += part.healthy_load + part.degraded_load;
    }
    EXPECT_EQ(sum, 100u);
  }
}

TEST("Weights of differently busy hosts count as their bias has it") {
  Hosts hosts;
  hosts.add(2).add(1);
  hosts.at(0).counters(0).rq_active.add(3);
  const HostSet set = hosts.set();
  BalancerSettings settings{.kind = Kind::LeastRequest};
  // 2/4 against 1.
  EXPECT(std::abs(choose(set, settings, 3000).at(2) - 2000) < 10);
  settings.request_bias_millionths = RuntimeNumber(0, 0, nullptr);
  EXPECT(std::abs(choose(set, settings, 3000).at(1) - 2000) < 10);
  settings.request_bias_millionths = RuntimeNumber(500'000, 0, nullptr);
  // 2 by the root of 4, against 1.
  EXPECT(std::abs(choose(set, settings, 3000).at(1) - 1500) < 10);
}

TEST("Requests that are active on other workers count as well") {
  Hosts hosts(2);
  hosts.add().add();
  hosts.at(0).counters(1).rq_active.add(5);
  EXPECT_EQ(choose(hosts.set(), {.kind = Kind::LeastRequest, .full_scan = true}, 50).at(2), 50);
}

TEST("A full scan takes any of the hosts that have the fewest, one as often as the other") {
  Hosts hosts;
  hosts.add().add().add().add();
  hosts.at(1).counters(0).rq_active.add(1);
  const auto counts = choose(hosts.set(), {.kind = Kind::LeastRequest, .full_scan = true}, 6000);
  EXPECT_EQ(counts.count(2), 0u);
  for (const unsigned port : {1, 3, 4}) EXPECT(std::abs(counts.at(port) - 2000) < 250);
}

TEST("Where balancers begin differs from one to the next, with weights and without") {
  for (const uint32_t last : {1, 2}) {
    const HostSet set = Hosts().add(1).add(1).add(last).set();
    std::map<unsigned, int> firsts;
    for (uint64_t seed = 0; seed < 300; ++seed) {
      ++firsts[choose(set, {}, 1, nullptr, seed).begin()->first];
    }
    EXPECT_EQ(firsts.size(), 3u);
  }
}

TEST("A panic that is to fail traffic chooses nobody, and says that it is one") {
  const HostSet set = Hosts().add().add(1, 0, Health::Unhealthy).add(1, 0, Health::Unhealthy).set();
  EXPECT_EQ(choose(set, {.fails_in_panic = true}, 10).at(0), 10);
  EXPECT_EQ(choose(set, {}, 9).size(), 3u);
}

TEST("Draining hosts neither count as lost nor bring a panic about") {
  const HostSet set =
      Hosts().add().add(1, 0, Health::Draining).add(1, 0, Health::Draining).add(1, 1).set();
  EXPECT_EQ(set.priorities()[0].healthy_load, 100u);
  EXPECT_EQ(choose(set, {}, 10).at(1), 10);
}

TEST("The health of a priority goes by weight where the assignment says so") {
  const Hosts hosts = Hosts().add(9).add(1, 0, Health::Unhealthy).add(1, 1);
  EXPECT_EQ(hosts.set().priorities()[0].healthy_load, 70u);
  EXPECT_EQ(hosts.set(HostSetRules{.weighs_health = true}).priorities()[0].healthy_load, 100u);
}

TEST("What rounding loses goes to healthy hosts where there are any") {
  const HostSet set = Hosts()
                          .add(1, 0, Health::Degraded)
                          .add(1, 0, Health::Unhealthy)
                          .add(1, 0, Health::Unhealthy)
                          .add(1, 1)
                          .add(1, 1, Health::Unhealthy)
                          .add(1, 1, Health::Unhealthy)
                          .set(0);
  EXPECT_EQ(set.priorities()[0].degraded_load, 50u);
  EXPECT_EQ(set.priorities()[1].healthy_load, 50u);
}

TEST("A host that is new has a growing part of its share, and never less than the least") {
  const HostSet set = Hosts().add(1).add(1).set();
  const SlowStartSettings slow{
      .window_ms = 1'000'000, .aggression_millionths = {1'000'000, 0, nullptr}, .min_share = 0.1};
  // Both are as new.
  const auto counts = choose(set, {.slow_start = slow}, 1000);
  EXPECT(std::abs(counts.at(1) - 500) < 10);
  const Host& host = *set.priorities()[0].all[0];
  EXPECT_EQ(slowStartShare(host, slow), 0.1);
  const SlowStartSettings over{
      .window_ms = 0, .aggression_millionths = {1'000'000, 0, nullptr}, .min_share = 0.1};
  EXPECT_EQ(slowStartShare(host, over), 1.0);
  EXPECT(!isAnySlow(set.priorities()[0].all, over));
  EXPECT(isAnySlow(set.priorities()[0].all, slow));
}

TEST("A new set of hosts differs by priority; one that is gone differs too") {
  Hosts hosts;
  hosts.add().add(1, 1).add(1, 2);
  const HostSet three = hosts.set();
  const HostSet none = Hosts().set();
  EXPECT_EQ(three.prioritiesOtherThan(none).size(), 3u);
  EXPECT_EQ(three.prioritiesOtherThan(three).size(), 0u);
  const HostSet four = hosts.add(1, 1).set();
  EXPECT_EQ(four.prioritiesOtherThan(three).size(), 1u);
  EXPECT_EQ(none.prioritiesOtherThan(four).size(), 3u);
  EXPECT_EQ(none.prioritiesOtherThan(none).size(), 0u);
  // Their order is no difference.
  std::vector<std::shared_ptr<Host>> turned(hosts.list().rbegin(), hosts.list().rend());
  EXPECT_EQ(HostSet(turned, nullptr, 50, 140).prioritiesOtherThan(four).size(), 0u);
  turned[1] = Hosts().add(1, 2).list()[0];
  EXPECT_EQ(HostSet(turned, nullptr, 50, 140).prioritiesOtherThan(four).size(), 1u);
}

TEST(
    "Localities that share by load get what their shares say, and none gets what nobody is there "
    "for") {
  Hosts hosts;
  hosts.addIn("a").addIn("b").addIn("b");
  HostSet set = hosts.zones("a");
  const auto shares = std::make_shared<LocalityShares>(std::vector<size_t>{2});
  set.setShares(shares);
  const BalancerSettings settings{.kind = Kind::RoundRobin, .goes_by_load = true};
  using Source = LocalityShares::Source;
  // Nothing is known yet.
  EXPECT_EQ(choose(set, settings, 10).at(1), 10);
  shares->set(0, Source::Healthy, 0, 0.25);
  shares->set(0, Source::Healthy, 1, 0.75);
  const auto counts = choose(set, settings, 4000);
  EXPECT(std::abs(counts.at(1) - 1000) < 200);
  EXPECT(std::abs(counts.at(2) - counts.at(3)) <= 1);
  Random random(1);
  Balancer balancer(settings, 0, random);
  balancer.setHosts(set);
  shares->set(0, Source::Healthy, 1, 0);
  EXPECT(balancer.choose().zone == ZoneRouting::Verdict::Sampled);
  shares->setAllLocal(0, Source::Healthy, true);
  EXPECT(balancer.choose().zone == ZoneRouting::Verdict::AllDirectly);
  Hosts sick;
  sick.addIn("a", 0, Health::Unhealthy).addIn("b");
  HostSet half = sick.zones("a", 0);
  half.setShares(shares);
  EXPECT_EQ(choose(half, settings, 10).at(2), 10);
}

}  // namespace fairlead::upstream
