// Hosts that a cluster knows already, and how they are found again.
#include "upstream/host.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "test/native/support/kernel.h"
#include "test/native/test.h"
#include "upstream/worker_clusters.h"
#include "worker/data_plane.h"

namespace fairlead::upstream {

namespace {

plan::Host hostAt(uint32_t number) {
  plan::Host host;
  host.address.emplace();
  host.address->ip = {10, static_cast<char>(number >> 16), static_cast<char>(number >> 8),
                      static_cast<char>(number)};
  host.address->port = 80;
  host.weight = 1;
  return host;
}

std::vector<std::shared_ptr<Host>> hostsUpTo(uint32_t count) {
  std::vector<std::shared_ptr<Host>> hosts;
  for (uint32_t i = 0; i < count; ++i) {
    hosts.push_back(std::make_shared<Host>(std::make_shared<const plan::Host>(hostAt(i)), 1));
  }
  return hosts;
}

plan::Cluster oneCluster() {
  plan::Cluster cluster;
  cluster.name = "origin";
  cluster.panic_threshold_pct = 50;
  cluster.limits.assign(2, {1024, 1024, 1024, 3, false, {}, {}, {}});
  return cluster;
}

// The nanoseconds of one choice for the TCP relay.
double nanosOfChoice(uint32_t host_count) {
  using Clock = std::chrono::steady_clock;
  net::Loop loop;
  net::OutBatch batch;
  net::SplicePipes pipes;
  http::RequestHead request;
  http::ResponseHead response;
  const http::CodecScratch scratch{batch, request, response};
  Random random;
  UpstreamContext context{loop, scratch, pipes, random, 0};
  WorkerCluster cluster(
      std::make_shared<Cluster>(oneCluster(), std::make_shared<stats::Block<stats::Cluster>>(
                                                  stats::clusterScope("origin"), 2)),
      context);
  cluster.setHosts(std::make_shared<const HostSet>(hostsUpTo(host_count), nullptr, 50, 140));
  constexpr int kChoices = 5000;
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < kChoices; ++i) EXPECT(cluster.chooseHost() != nullptr);
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / kChoices;
}

}  // namespace

TEST("A known host is found by its address, wherever it stands and whatever else is said of it") {
  const std::vector<std::shared_ptr<Host>> hosts = hostsUpTo(3);
  for (size_t at = 0; at < 5; ++at) {
    EXPECT(KnownHosts(hosts).take(at, hostAt(2)) == hosts[2]);
  }
  EXPECT(KnownHosts(hosts).take(3, hostAt(3)) == nullptr);
  for (const auto change :
       {+[](plan::Host& host) { host.canary = true; }, +[](plan::Host& host) { host.weight = 2; },
        +[](plan::Host& host) { host.priority = 1; },
        +[](plan::Host& host) { host.health = plan::Host::Health::Degraded; },
        +[](plan::Host& host) { host.hostname = "a"; }, +[](plan::Host& host) { host.zone = "a"; },
        +[](plan::Host& host) { host.locality_weight = 7; }}) {
    plan::Host other = hostAt(1);
    change(other);
    EXPECT(!isSameHost(other, hostAt(1)));
    EXPECT(KnownHosts(hosts).take(1, other) == hosts[1]);
  }
  for (const auto change : {+[](plan::Host& host) { host.address->port = 81; },
                            +[](plan::Host& host) { host.address.reset(); }}) {
    plan::Host other = hostAt(1);
    change(other);
    EXPECT(KnownHosts(hosts).take(1, other) == nullptr);
  }
}

TEST("An address that a list names twice has a host of its own each time") {
  const std::vector<std::shared_ptr<Host>> hosts = hostsUpTo(1);
  KnownHosts known(hosts);
  EXPECT(known.take(0, hostAt(0)) == hosts[0]);
  EXPECT(known.take(1, hostAt(0)) == nullptr);
}

TEST(
    "Of two hosts of an address the one that is checked in the same place is found, in any order") {
  const auto checkedAt = [](uint32_t port) {
    plan::Host host = hostAt(1);
    host.check_address = host.address;
    host.check_address->port = port;
    return host;
  };
  std::vector<std::shared_ptr<Host>> hosts = hostsUpTo(1);
  for (const uint32_t port : {8080u, 9090u}) {
    hosts.push_back(std::make_shared<Host>(std::make_shared<const plan::Host>(checkedAt(port)), 1));
  }
  for (size_t at = 0; at < 4; ++at) {
    EXPECT(KnownHosts(hosts).take(at, checkedAt(8080)) == hosts[1]);
    EXPECT(KnownHosts(hosts).take(at, checkedAt(9090)) == hosts[2]);
    // One that is checked elsewhere is still of that address.
    EXPECT(KnownHosts(hosts).take(at, hostAt(1)) != nullptr);
  }
}

TEST("An assignment makes only the hosts that are new, and tells nobody where none is") {
  worker::DataPlane plane({.workers = 2, .tap_sink = nullptr, .transport = nullptr});
  plan::Update update;
  update.clusters.push_back(oneCluster());
  plan::Assignment& assignment = update.assignments.emplace_back();
  assignment.cluster_name = "origin";
  assignment.overprovisioning_factor_pct = 140;
  for (uint32_t i = 0; i < 1000; ++i) assignment.hosts.push_back(hostAt(i));
  EXPECT(plane.apply(update).empty());
  const std::shared_ptr<const HostSet> first = plane.clusters().at("origin")->hosts();

  update.clusters.clear();
  plan::Update again = update;
  const uint64_t before = test::allocationCount();
  EXPECT(plane.apply(std::move(again)).empty());
  EXPECT(test::allocationCount() < before + 100);
  EXPECT(plane.clusters().at("origin")->hosts() == first);

  assignment.hosts[500] = hostAt(5000);
  EXPECT(plane.apply(update).empty());
  const std::shared_ptr<const HostSet> second = plane.clusters().at("origin")->hosts();
  EXPECT(second != first);
  EXPECT(second->hosts()[499] == first->hosts()[499]);
  EXPECT(second->hosts()[500] != first->hosts()[500]);
  EXPECT_EQ(plane.stats().value("cluster.origin.membership_change").value_or(0), 2u);
}

TEST("Choosing one of 100,000 hosts for the relay takes about as long as choosing one of 100") {
  const double few = nanosOfChoice(100);
  EXPECT(nanosOfChoice(100'000) < 100 * few);
}

}  // namespace fairlead::upstream
