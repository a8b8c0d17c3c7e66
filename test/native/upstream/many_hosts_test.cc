// What 10,000 hosts cost a worker: an update, the choices after it, and memory.
#include <time.h>

#include <algorithm>
#include <memory>

#include "test/native/support/kernel.h"
#include "test/native/test.h"
#include "test/native/upstream/fixtures.h"
#include "upstream/hash_tables.h"
#include "upstream/worker_clusters.h"

namespace fairlead::upstream {

namespace {

using Kind = plan::Cluster::Balancer;
using test::Hosts;

constexpr uint32_t kMany = 10'000;

Hosts hostsWeighing(uint32_t count, uint32_t weights) {
  Hosts hosts;
  for (uint32_t i = 0; i < count; ++i) hosts.add(1 + i % weights);
  return hosts;
}

// Of this thread, whatever else the machine does.
double cpuMicros() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e6 + static_cast<double>(used.tv_nsec) / 1e3;
}

// The least of what several tries take.
template <typename Try>
double leastMicros(Try&& once) {
  double least = 1e12;
  for (int i = 0; i < 5; ++i) {
    const double before = cpuMicros();
    once();
    least = std::min(least, cpuMicros() - before);
  }
  return least;
}

// A worker's view of a cluster.
class Viewed {
 public:
  explicit Viewed(Kind kind) : view_(clusterThat(kind), context_) {}
  WorkerCluster& view() { return view_; }

 private:
  static std::shared_ptr<Cluster> clusterThat(Kind kind) {
    plan::Cluster plan;
    plan.name = "many";
    plan.balancer = kind;
    plan.least_request_choices = 2;
    plan.panic_threshold_pct = 50;
    plan.limits.assign(2, {1024, 1024, 1024, 3, false, {}, {}});
    return std::make_shared<Cluster>(
        std::move(plan),
        std::make_shared<stats::Block<stats::Cluster>>(stats::clusterScope("many"), 2));
  }

  net::Loop loop_;
  net::OutBatch batch_;
  net::SplicePipes pipes_;
  http::RequestHead request_;
  http::ResponseHead response_;
  const http::CodecScratch scratch_{batch_, request_, response_};
  Random random_{1};
  UpstreamContext context_{loop_, scratch_, pipes_, random_, 0};
  WorkerCluster view_;
};

double microsOfChoices(Kind kind, uint32_t count, uint32_t weights) {
  const Hosts hosts = hostsWeighing(count, weights);
  const HostSet set = hosts.set();
  const BalancerSettings settings{.kind = kind};
  Random random(1);
  Balancer balancer(settings, 0, random);
  balancer.setHosts(set);
  balancer.choose();
  return leastMicros([&] {
    for (int i = 0; i < 1000; ++i) EXPECT(balancer.choose().host != nullptr);
  });
}

}  // namespace

TEST("An update of 10,000 hosts is a worker's in milliseconds, with the choice that follows") {
  for (const Kind kind : {Kind::RoundRobin, Kind::LeastRequest, Kind::Random}) {
    Viewed worker(kind);
    const Hosts hosts = hostsWeighing(kMany, 100);
    const std::shared_ptr<const HostSet> sets[2] = {
        std::make_shared<const HostSet>(hosts.list(), nullptr, 50, 140),
        std::make_shared<const HostSet>(hosts.list(), nullptr, 50, 140)};
    int turn = 0;
    const double micros = leastMicros([&] {
      worker.view().setHosts(sets[++turn % 2]);
      EXPECT(worker.view().chooseHost() != nullptr);
    });
    // Ten times what it takes without checks of any kind, and more than with AddressSanitizer's.
    EXPECT(micros < 30'000);
  }
}

TEST("A worker has less than 200 bytes for each of 10,000 hosts, what it throws away included") {
  const Hosts hosts = hostsWeighing(kMany, 100);
  for (const Kind kind : {Kind::RoundRobin, Kind::LeastRequest, Kind::Random}) {
    Viewed worker(kind);
    const auto set = std::make_shared<const HostSet>(hosts.list(), nullptr, 50, 140);
    const uint64_t before = test::allocatedBytes();
    worker.view().setHosts(set);
    worker.view().chooseHost();
    // Its counters are made with the host.
    EXPECT(sizeof(HostCounters) + (test::allocatedBytes() - before) / kMany < 200);
  }
}

TEST("Choosing takes nothing of the heap, and of 10,000 hosts not much longer than of 100") {
  struct Way {
    Kind kind;
    uint32_t weights;
  };
  for (const Way way :
       {Way{Kind::RoundRobin, 1}, Way{Kind::RoundRobin, 100}, Way{Kind::LeastRequest, 1},
        Way{Kind::LeastRequest, 100}, Way{Kind::Random, 1}}) {
    const double few = microsOfChoices(way.kind, 100, way.weights);
    // Its logarithm doubles, and hosts are no longer in caches; one by one it would be a hundred
    // times.
    EXPECT(microsOfChoices(way.kind, kMany, way.weights) < 25 * few);
    const Hosts hosts = hostsWeighing(1000, way.weights);
    const HostSet set = hosts.set();
    const BalancerSettings settings{.kind = way.kind};
    Random random(1);
    Balancer balancer(settings, 0, random);
    balancer.setHosts(set);
    balancer.choose();
    const uint64_t before = test::allocationCount();
    for (int i = 0; i < 1000; ++i) balancer.choose();
    EXPECT_EQ(test::allocationCount(), before);
  }
}

TEST("Where one host is busy, finding another for its hashes does not ask all") {
  plan::Cluster cluster;
  cluster.balancer = Kind::Maglev;
  cluster.hash_table.emplace().table_size = 65'537;
  cluster.hash_table->balance_factor_pct = 150;
  const auto micros = [&](uint32_t count) {
    const Hosts hosts = hostsWeighing(count, 1);
    HostSet set = hosts.set();
    buildHashTables(cluster, &set);
    const HashTable& table = *set.priorities()[0].table;
    table.find({77})->counters(0).rq_active.add(1'000'000);
    // The first on a thread makes room.
    table.find({77});
    return leastMicros([&] {
      for (int i = 0; i < 200; ++i) EXPECT(table.find({77}) != nullptr);
    });
  };
  EXPECT(micros(kMany) < 10 * micros(100));
}

}  // namespace fairlead::upstream
