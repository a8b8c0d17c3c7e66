#include "upstream/balancer.h"

#include <map>
#include <memory>
#include <string>

#include "test/native/test.h"

namespace fairlead::upstream {

namespace {

using Kind = plan::Cluster::Balancer;
using Health = plan::Host::Health;

class Hosts {
 public:
  Hosts& add(uint32_t weight = 1, uint32_t priority = 0, Health health = Health::Healthy) {
    plan::Host host;
    host.address.emplace().ip = std::string("\x0a\0\0\1", 4);
    host.address->port = static_cast<uint32_t>(list_.size() + 1);
    host.weight = weight;
    host.priority = priority;
    host.health = health;
    list_.push_back(std::make_shared<Host>(std::make_shared<const plan::Host>(host), 1));
    return *this;
  }
  HostSet set(uint32_t panic_pct = 50) const { return HostSet(list_, nullptr, panic_pct, 140); }
  Host& at(size_t index) const { return *list_[index]; }

 private:
  std::vector<std::shared_ptr<Host>> list_;
};

// How often each port was chosen; 0: nobody.
std::map<unsigned, int> choose(const HostSet& set, BalancerSettings settings, int times) {
  Random random;
  Balancer balancer(settings, 0, random);
  balancer.setHosts(set);
  std::map<unsigned, int> counts;
  for (int i = 0; i < times; ++i) {
    const Host* host = balancer.choose().host;
    ++counts[host ? host->address().port() : 0];
  }
  return counts;
}

}  // namespace

TEST("Round robin takes every host in turn; weights share exactly") {
  const HostSet even = Hosts().add().add().add().set();
  for (const auto& [port, count] : choose(even, {Kind::RoundRobin}, 300)) EXPECT_EQ(count, 100);
  const HostSet weighted = Hosts().add(1).add(2).add(5).set();
  const auto counts = choose(weighted, {Kind::RoundRobin}, 800);
  EXPECT(std::abs(counts.at(1) - 100) <= 2);
  EXPECT(std::abs(counts.at(2) - 200) <= 2);
  EXPECT(std::abs(counts.at(3) - 500) <= 2);
}

TEST("Random takes every host, about as often") {
  const auto counts = choose(Hosts().add().add().set(), {Kind::Random}, 4000);
  EXPECT(std::abs(counts.at(1) - 2000) < 300);
}

TEST("Least request avoids the host that is busy, and with a full scan always takes the idle one") {
  Hosts hosts;
  hosts.add().add().add();
  hosts.at(0).counters(0).rq_active.add(10);
  hosts.at(1).counters(0).rq_active.add(10);
  const HostSet set = hosts.set();
  EXPECT_EQ(choose(set, {Kind::LeastRequest, 2, true}, 100).at(3), 100);
  const auto counts = choose(set, {Kind::LeastRequest, 2, false}, 900);
  // Drawn at least once in two: 5 of 9.
  EXPECT(counts.at(3) > 400);
}

TEST("Nobody is chosen where there is nobody") {
  EXPECT_EQ(choose(Hosts().set(), {Kind::RoundRobin}, 3).at(0), 3);
  Random random;
  Balancer balancer({}, 0, random);
  EXPECT(balancer.choose().host == nullptr);
}

TEST("Healthy hosts take all while they can; what they cannot take goes to degraded ones") {
  const HostSet one_of_two = Hosts().add().add(1, 0, Health::Unhealthy).add().set(0);
  EXPECT_EQ(choose(one_of_two, {Kind::RoundRobin}, 300).count(2), 0u);
  const HostSet half = Hosts().add().add(1, 0, Health::Degraded).set();
  const auto counts = choose(half, {Kind::RoundRobin}, 4000);
  // 140 % of one half: 70 % to the healthy one.
  EXPECT(std::abs(counts.at(1) - 2800) < 300);
  EXPECT_EQ(counts.at(1) + counts.at(2), 4000);
}

TEST("Below the panic threshold health is ignored; a threshold of 0 never panics") {
  Hosts sick;
  sick.add();
  for (int i = 0; i < 3; ++i) sick.add(1, 0, Health::Unhealthy);
  EXPECT_EQ(choose(sick.set(50), {Kind::RoundRobin}, 400).at(2), 100);
  EXPECT_EQ(choose(sick.set(0), {Kind::RoundRobin}, 400).at(1), 400);
  const HostSet all_sick = Hosts().add(1, 0, Health::Unhealthy).set(0);
  EXPECT_EQ(choose(all_sick, {Kind::RoundRobin}, 5).at(0), 5);
}

TEST("A later priority gets what the earlier ones cannot take") {
  const HostSet spill = Hosts().add().add(1, 0, Health::Unhealthy).add(1, 1).set();
  const auto counts = choose(spill, {Kind::RoundRobin}, 4000);
  EXPECT(std::abs(counts.at(1) - 2800) < 300);
  EXPECT(std::abs(counts.at(3) - 1200) < 300);
  EXPECT_EQ(counts.count(2), 0u);
  const HostSet failed_over = Hosts().add(1, 0, Health::Unhealthy).add(1, 1).set();
  EXPECT_EQ(choose(failed_over, {Kind::RoundRobin}, 50).at(2), 50);
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

TEST("A new set of hosts differs by priority; one that is gone differs too") {
  Hosts hosts;
  hosts.add().add(1, 1).add(1, 2);
  const HostSet three = hosts.set();
  const HostSet none = Hosts().set();
  EXPECT_EQ(three.prioritiesOtherThan(none), 3u);
  EXPECT_EQ(three.prioritiesOtherThan(three), 0u);
  const HostSet four = hosts.add(1, 1).set();
  EXPECT_EQ(four.prioritiesOtherThan(three), 1u);
  EXPECT_EQ(none.prioritiesOtherThan(four), 3u);
  EXPECT_EQ(none.prioritiesOtherThan(none), 0u);
}

}  // namespace fairlead::upstream
