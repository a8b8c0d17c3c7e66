// What a choice among 10,000 hosts costs, of each balancer, and what each worker does when they
// change.
#include <memory>
#include <string>
#include <vector>

#include "base/xxhash.h"
#include "bench/micro/micro.h"
#include "upstream/balancer.h"
#include "upstream/hash_tables.h"

namespace fairlead::upstream {

namespace {

using Kind = plan::Cluster::Balancer;

constexpr size_t kHosts = 10'000;

// Of three weights.
HostSet::Hosts manyHosts() {
  HostSet::Hosts hosts;
  for (size_t i = 0; i < kHosts; ++i) {
    plan::Host host;
    host.address.emplace();
    host.address->ip = {10, 0, static_cast<char>(i >> 8), static_cast<char>(i)};
    host.address->port = 80;
    host.weight = static_cast<uint32_t>(1 + i % 3);
    hosts.push_back(std::make_shared<Host>(std::make_shared<const plan::Host>(host), 2));
  }
  return hosts;
}

plan::Cluster clusterOf(Kind kind) {
  plan::Cluster cluster;
  cluster.balancer = kind;
  plan::HashTable& table = cluster.hash_table.emplace();
  table.min_size = 1024;
  table.max_size = 8 << 20;
  table.table_size = 65'537;
  return cluster;
}

void chooseMany(micro::State& state, Kind kind) {
  HostSet set(manyHosts(), nullptr, 50, 140);
  buildHashTables(clusterOf(kind), &set);
  const BalancerSettings settings{.kind = kind};
  Random random;
  Balancer balancer(settings, 0, random);
  balancer.setHosts(set);
  uint64_t hash = 0;
  for (auto _ : state) {
    hash += 0x9e3779b97f4a7c15;
    micro::keep(balancer.choose({.hash = hash}).host);
  }
}

}  // namespace

MICRO("balancer: round robin of 10,000 weights") { chooseMany(state, Kind::RoundRobin); }
MICRO("balancer: least request of 10,000 weights") { chooseMany(state, Kind::LeastRequest); }
MICRO("balancer: random of 10,000") { chooseMany(state, Kind::Random); }
MICRO("balancer: ring of 10,000") { chooseMany(state, Kind::RingHash); }
MICRO("balancer: Maglev of 10,000") { chooseMany(state, Kind::Maglev); }

MICRO("balancer: a worker takes up 10,000 hosts, and chooses one") {
  const HostSet set(manyHosts(), nullptr, 50, 140);
  const BalancerSettings settings;
  Random random;
  Balancer balancer(settings, 0, random);
  for (auto _ : state) {
    balancer.setHosts(set);
    micro::keep(balancer.choose().host);
  }
}

MICRO("balancer: the control thread makes a set of 10,000 hosts") {
  const HostSet::Hosts hosts = manyHosts();
  for (auto _ : state) micro::keep(HostSet(hosts, nullptr, 50, 140).healthyCount());
}

MICRO("balancer: and its ring") {
  HostSet set(manyHosts(), nullptr, 50, 140);
  const plan::Cluster cluster = clusterOf(Kind::RingHash);
  for (auto _ : state) micro::keep(buildHashTables(cluster, &set).size);
}

MICRO("balancer: and its Maglev table") {
  HostSet set(manyHosts(), nullptr, 50, 140);
  const plan::Cluster cluster = clusterOf(Kind::Maglev);
  for (auto _ : state) micro::keep(buildHashTables(cluster, &set).size);
}

}  // namespace fairlead::upstream
