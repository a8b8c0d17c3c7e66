// How often each host is chosen, by every balancer and all that comes before it: priorities,
// health, localities, zones, subsets. Seeds are the same every time; what is left to chance is held
// against what should be by the chi-squared test.
#include <cmath>

#include "test/native/test.h"
#include "test/native/upstream/fixtures.h"
#include "upstream/subset_balancer.h"
#include "upstream/worker_clusters.h"
#include "worker/load_weights.h"

namespace fairlead::upstream {

namespace {

using Kind = plan::Cluster::Balancer;
using test::areSharedAs;
using test::choose;
using test::Counts;
using test::Health;
using test::Hosts;

constexpr int kDraws = 20'000;

bool shares(const HostSet& set, const BalancerSettings& settings, const std::vector<double>& parts,
            const HostSet* local = nullptr) {
  for (const uint64_t seed : {1, 2, 3}) {
    if (!areSharedAs(choose(set, settings, kDraws, local, seed), parts)) return false;
  }
  return true;
}

Hosts weighing(const std::vector<uint32_t>& weights) {
  Hosts hosts;
  for (const uint32_t weight : weights) hosts.add(weight);
  return hosts;
}

// Of a hundred hosts each, so many of which are healthy.
HostSet healthyOfHundred(const std::vector<uint32_t>& healthy) {
  Hosts hosts;
  for (uint32_t priority = 0; priority < healthy.size(); ++priority) {
    for (uint32_t i = 0; i < 100; ++i) {
      hosts.add(1, priority, i < healthy[priority] ? Health::Healthy : Health::Unhealthy);
    }
  }
  return hosts.set();
}

// Five hosts that tell their load, in two zones: of the latter two, one never did, and one did long
// ago. They have the median of the others' weights.
class ReportingHosts {
 public:
  ReportingHosts() {
    for (uint32_t i = 0; i < 5; ++i) {
      plan::Host host;
      host.address.emplace().ip = std::string("\x0a\0\0\1", 4);
      host.address->port = i + 1;
      host.weight = 7;
      host.zone = i < 2 ? "a" : "b";
      host.locality_weight = i < 2 ? 1 : 3;
      hosts_.push_back(std::make_shared<Host>(std::make_shared<const plan::Host>(host), 1, nullptr,
                                              HostLoad::Uses{.weights = true}));
    }
    plan::Cluster plan;
    plan.name = "reporting";
    plan.limits.assign(2, {1024, 1024, 1024, 3, false, {}, {}});
    plan.load_weights.emplace().expiration_ms = 1000;
    const Cluster cluster(std::move(plan), std::make_shared<stats::Block<stats::Cluster>>(
                                               stats::clusterScope("reporting"), 2));
    const uint64_t now = hostClockMs() + 10'000;
    for (const uint32_t i : {0, 1, 2}) hosts_[i]->load()->put(100 * (i + 1), now);
    hosts_[4]->load()->put(1'000'000, now - 1001);
    EXPECT(worker::LoadWeights::update(cluster, hosts_, now));
    EXPECT(!worker::LoadWeights::update(cluster, hosts_, now));
  }
  HostSet set() const { return HostSet(hosts_, nullptr, HostSetRules{.groups_localities = true}); }

 private:
  HostSet::Hosts hosts_;
};

}  // namespace

TEST("Every balancer gives each host its part; only that of chance does not ask for weights") {
  const HostSet even = weighing({3, 3, 3, 3, 3}).set();
  const HostSet weighted = weighing({1, 2, 3, 4, 10}).set();
  for (const Kind kind : {Kind::RoundRobin, Kind::LeastRequest, Kind::Random}) {
    const BalancerSettings settings{.kind = kind};
    EXPECT(shares(even, settings, {1, 1, 1, 1, 1}));
    const bool is_random = kind == Kind::Random;
    EXPECT(
        shares(weighted, settings,
               is_random ? std::vector<double>{1, 1, 1, 1, 1} : std::vector{1., 2., 3., 4., 10.}));
  }
}

TEST("Turns are even at any time: no host is ahead of its part by more than one, or behind") {
  const std::vector<uint32_t> weights = {1, 2, 3, 4, 10};
  const HostSet set = weighing(weights).set();
  Random random(7);
  const BalancerSettings settings;
  Balancer balancer(settings, 0, random);
  balancer.setHosts(set);
  std::vector<double> counts(weights.size());
  double worst = 0;
  for (int turn = 1; turn <= 4000; ++turn) {
    ++counts[balancer.choose().host->address().port() - 1];
    for (size_t i = 0; i < weights.size(); ++i) {
      // Each begins somewhere in its first turn, which moves all of them by part of one.
      const double allowed = 1 + weights.size() * weights[i] / 20.0;
      worst = std::max(worst, std::abs(counts[i] - turn * weights[i] / 20.0) / allowed);
    }
  }
  EXPECT(worst <= 1);
}

TEST("Without weights every host has had its turn before one has its next, new hosts or not") {
  Random random(3);
  const BalancerSettings settings;
  Balancer balancer(settings, 0, random);
  for (const uint32_t count : {2, 7, 30}) {
    const HostSet set = weighing(std::vector<uint32_t>(count, 5)).set();
    balancer.setHosts(set);
    for (int round = 0; round < 10; ++round) {
      Counts counts;
      for (uint32_t i = 0; i < count; ++i) ++counts[balancer.choose().host->address().port()];
      EXPECT_EQ(counts.size(), count);
    }
  }
}

TEST("Of those that are drawn the least busy is taken: each has the odds of its rank") {
  Hosts hosts;
  for (uint64_t i = 0; i < 5; ++i) {
    hosts.add();
    hosts.at(i).counters(0).rq_active.add(i);
  }
  const HostSet set = hosts.set();
  for (const uint32_t choices : {2, 3, 5}) {
    std::vector<double> odds;
    for (int rank = 0; rank < 5; ++rank) {
      odds.push_back(std::pow(5 - rank, choices) - std::pow(4 - rank, choices));
    }
    EXPECT(shares(set, {.kind = Kind::LeastRequest, .choices = choices}, odds));
  }
}

TEST("Weights of busy hosts count by any bias") {
  Hosts hosts = weighing({1, 2, 3, 4});
  const std::vector<double> active = {0, 1, 2, 5};
  for (size_t i = 0; i < 4; ++i) {
    hosts.at(i).counters(0).rq_active.add(static_cast<uint64_t>(active[i]));
  }
  const HostSet set = hosts.set();
  for (const double bias : {0.0, 0.25, 0.5, 1.0, 2.0, 3.5}) {
    BalancerSettings settings{.kind = Kind::LeastRequest};
    settings.request_bias_millionths =
        RuntimeNumber(static_cast<uint64_t>(bias * 1'000'000), 0, nullptr);
    std::vector<double> parts;
    for (size_t i = 0; i < 4; ++i) {
      parts.push_back(static_cast<double>(i + 1) / std::pow(active[i] + 1, bias));
    }
    EXPECT(shares(set, settings, parts));
  }
}

TEST("Requests that last leave hosts of any balancer of the fewest about as busy") {
  for (const bool full_scan : {false, true}) {
    Hosts hosts = weighing(std::vector<uint32_t>(20, 1));
    const HostSet set = hosts.set();
    Random random(5);
    const BalancerSettings settings{.kind = Kind::LeastRequest, .full_scan = full_scan};
    Balancer balancer(settings, 0, random);
    balancer.setHosts(set);
    for (int i = 0; i < 2000; ++i) balancer.choose().host->counters(0).rq_active.add();
    uint64_t fewest = UINT64_MAX;
    uint64_t most = 0;
    for (size_t i = 0; i < 20; ++i) {
      const uint64_t active = hosts.at(i).counters(0).rq_active.read();
      fewest = std::min(fewest, active);
      most = std::max(most, active);
    }
    // M. Mitzenmacher, "The Power of Two Choices": a gap that does not grow with the requests.
    EXPECT(most - fewest <= (full_scan ? 0 : 8));
  }
}

// ---- priorities ----

// From the real server's documentation of priority levels.
TEST("Priorities share as they are published to") {
  struct Row {
    std::vector<uint32_t> healthy;
    std::vector<uint32_t> loads;
  };
  const std::vector<Row> rows = {
      {{100, 100}, {100, 0}},         {{72, 100}, {100, 0}},         {{71, 100}, {99, 1}},
      {{50, 100}, {70, 30}},          {{25, 100}, {35, 65}},         {{0, 100}, {0, 100}},
      {{100, 100, 100}, {100, 0, 0}}, {{72, 72, 100}, {100, 0, 0}},  {{71, 71, 100}, {99, 1, 0}},
      {{50, 50, 100}, {70, 30, 0}},   {{25, 100, 100}, {35, 65, 0}}, {{25, 25, 100}, {35, 35, 30}},
  };
  for (const Row& row : rows) {
    const HostSet set = healthyOfHundred(row.healthy);
    for (size_t i = 0; i < row.loads.size(); ++i) {
      EXPECT_EQ(set.priorities()[i].healthy_load, row.loads[i]);
      EXPECT(!set.priorities()[i].panic);
    }
  }
}

TEST("Healthy hosts of all priorities come before those that are degraded") {
  const HostSet set = Hosts()
                          .add()
                          .add(1, 0, Health::Degraded)
                          .add(1, 0, Health::Unhealthy)
                          .add(1, 0, Health::Timeout)
                          .add(1, 1)
                          .add(1, 1, Health::Unhealthy)
                          .add(1, 1, Health::Unhealthy)
                          .add(1, 1, Health::Unhealthy)
                          .set();
  for (const Kind kind : {Kind::RoundRobin, Kind::LeastRequest, Kind::Random}) {
    EXPECT(shares(set, {.kind = kind}, {35, 30, 0, 0, 35, 0, 0, 0}));
  }
}

TEST("Where all priorities panic each has the part of its hosts, well or not") {
  Hosts hosts;
  for (uint32_t i = 0; i < 4; ++i) hosts.add(1, 0, Health::Unhealthy);
  hosts.add(1, 1);
  for (uint32_t i = 0; i < 5; ++i) hosts.add(1, 1, Health::Unhealthy);
  for (const Kind kind : {Kind::RoundRobin, Kind::LeastRequest, Kind::Random}) {
    EXPECT(shares(hosts.set(), {.kind = kind}, std::vector<double>(10, 1)));
  }
}

TEST("Where one priority panics its hosts share what it gets, and those of the other go on") {
  Hosts hosts;
  for (uint32_t i = 0; i < 10; ++i) hosts.add(1, 0, i < 1 ? Health::Healthy : Health::Unhealthy);
  for (uint32_t i = 0; i < 10; ++i) hosts.add(1, 1, i < 6 ? Health::Healthy : Health::Unhealthy);
  // 14 and 84 of 98, and what rounding left.
  std::vector<double> parts(10, 15 / 10.0);
  parts.insert(parts.end(), 6, 85 / 6.0);
  parts.insert(parts.end(), 4, 0);
  EXPECT(shares(hosts.set(), {}, parts));
}

// ---- localities and zones ----

TEST("Localities share by their weights and what is left of their hosts, and hosts by theirs") {
  const HostSet set = Hosts()
                          .addIn("a", 1)
                          .addIn("a", 1, Health::Healthy, 3)
                          .addIn("b", 2)
                          .addIn("b", 2, Health::Unhealthy)
                          .zones("");
  const BalancerSettings settings{.weighs_localities = true};
  // Half of b's hosts can take 70 % of what is b's.
  EXPECT(shares(set, settings, {0.25, 0.75, 1.4, 0}));
}

TEST("Degraded localities share by weight as well") {
  const HostSet set = Hosts()
                          .addIn("a", 1, Health::Degraded)
                          .addIn("b", 3, Health::Degraded)
                          .addIn("b", 3, Health::Degraded)
                          .zones("");
  EXPECT(shares(set, {.weighs_localities = true}, {1, 1.5, 1.5}));
}

TEST("Zones keep what they can take, and send the rest where there is room for it") {
  Hosts senders;
  for (const char* zone : {"a", "a", "a", "a", "b", "c"}) senders.addIn(zone);
  Hosts takers;
  for (const char* zone : {"a", "a", "b", "b", "b", "c", "c", "c", "c", "c"}) takers.addIn(zone);
  const HostSet local = senders.zones("a");
  const HostSet hosts = takers.zones("a");
  plan::ZoneRouting plan;
  plan.min_cluster_size = 1;
  // 2,000 of 6,666 can stay; of the others' 10,000ths 1,334 and 3,334 are free.
  const double b = 0.7 * 1334 / 4668;
  const double c = 0.7 * 3334 / 4668;
  std::vector<double> parts = {0.15, 0.15, b / 3, b / 3, b / 3, c / 5, c / 5, c / 5, c / 5, c / 5};
  for (const Kind kind : {Kind::RoundRobin, Kind::LeastRequest, Kind::Random}) {
    plan.enabled_millionths = 1'000'000;
    BalancerSettings settings{.kind = kind, .zones = ZoneSettings(plan, nullptr)};
    EXPECT(shares(hosts, settings, parts, &local));
    plan.enabled_millionths = 250'000;
    settings.zones.emplace(plan, nullptr);
    std::vector<double> mixed;
    for (const double part : parts) mixed.push_back(0.25 * part + 0.75 * 0.1);
    EXPECT(shares(hosts, settings, mixed, &local));
  }
}

// ---- subsets ----

TEST("Requests for a subset are shared by its hosts alone, and by all where there is none") {
  Hosts hosts;
  for (uint32_t i = 0; i < 5; ++i) {
    plan::Host host;
    host.address.emplace().ip = std::string("\x0a\0\0\1", 4);
    host.address->port = i + 1;
    host.weight = i + 1;
    host.labels = {i < 3 ? "version=\"1\"" : "version=\"2\""};
    hosts.add(host);
  }
  plan::Cluster cluster;
  cluster.subsets.emplace().fallback = plan::Subsets::Fallback::Any;
  cluster.subsets->selectors.emplace_back().keys = {"version"};
  cluster.subsets->selectors[0].fallback = plan::SubsetSelector::Fallback::OfCluster;
  HostSet set = hosts.set();
  set.setSubsets(std::make_shared<const SubsetIndex>(cluster, set, set.rules()));
  const auto chosen = [&](const char* label, Kind kind, uint64_t seed) {
    Random random(seed);
    const BalancerSettings settings{.kind = kind};
    Balancer any(settings, 0, random);
    any.setHosts(set);
    SubsetBalancer balancer(*cluster.subsets, settings, any, 0, random);
    balancer.setHosts(set, nullptr);
    const plan::SubsetCriteria criteria(std::vector<std::string>{label});
    Counts counts;
    for (int i = 0; i < kDraws; ++i) {
      const Host* const host = balancer.choose({}, &criteria).host;
      ++counts[host ? host->address().port() : 0];
    }
    return counts;
  };
  for (const uint64_t seed : {1, 2, 3}) {
    for (const Kind kind : {Kind::RoundRobin, Kind::LeastRequest}) {
      EXPECT(areSharedAs(chosen("version=\"1\"", kind, seed), {1, 2, 3, 0, 0}));
      EXPECT(areSharedAs(chosen("version=\"2\"", kind, seed), {0, 0, 0, 4, 5}));
      EXPECT(areSharedAs(chosen("version=\"9\"", kind, seed), {1, 2, 3, 4, 5}));
    }
    EXPECT(areSharedAs(chosen("version=\"1\"", Kind::Random, seed), {1, 1, 1, 0, 0}));
  }
}

// ---- weights that change ----

TEST("A host that warms up has part of its weight, those beside it all of theirs") {
  Hosts hosts = weighing({2});
  // Not healthy, and chosen for that their priority panics: they do not warm up.
  for (uint32_t i = 0; i < 2; ++i) hosts.add(1, 0, Health::Unhealthy);
  const HostSet set = hosts.set();
  EXPECT(set.priorities()[0].panic);
  for (const Kind kind : {Kind::RoundRobin, Kind::LeastRequest}) {
    BalancerSettings settings{.kind = kind};
    settings.slow_start = SlowStartSettings{1'000'000'000, {1'000'000, 0, nullptr}, 0.1};
    EXPECT(shares(set, settings, {0.2, 1, 1}));
    settings.slow_start->min_share = 0.5;
    EXPECT(shares(set, settings, {1, 1, 1}));
    settings.slow_start->window_ms = 0;
    EXPECT(shares(set, settings, {2, 1, 1}));
  }
}

TEST("Hosts that tell their load share by it, and those that do not have the median's part") {
  const ReportingHosts hosts;
  const HostSet set = hosts.set();
  for (const Kind kind : {Kind::RoundRobin, Kind::LeastRequest}) {
    EXPECT(shares(set, {.kind = kind}, {100, 200, 300, 200, 200}));
    // Localities share by what they are assigned.
    EXPECT(shares(set, {.kind = kind, .weighs_localities = true},
                  {100 / 300.0, 200 / 300.0, 3 * 300 / 700.0, 3 * 200 / 700.0, 3 * 200 / 700.0}));
  }
}

}  // namespace fairlead::upstream
