#include "upstream/hash_table.h"

#include <cmath>
#include <set>

#include "base/murmur_hash.h"
#include "base/xxhash.h"
#include "test/native/test.h"
#include "test/native/upstream/fixtures.h"
#include "upstream/hash_tables.h"

namespace fairlead::upstream {

namespace {

using Kind = plan::Cluster::Balancer;
using test::Health;
using test::Hosts;

plan::HashTable ringSettings(uint64_t min = 1024, uint64_t max = 8 << 20) {
  plan::HashTable settings;
  settings.min_size = min;
  settings.max_size = max;
  return settings;
}

plan::HashTable maglevSettings(uint64_t size = 65'537) {
  plan::HashTable settings;
  settings.table_size = size;
  return settings;
}

plan::Cluster clusterOf(Kind kind, const plan::HashTable& settings) {
  plan::Cluster cluster;
  cluster.balancer = kind;
  cluster.hash_table = settings;
  return cluster;
}

std::vector<HashShare> sharesOf(const Hosts& hosts) {
  return hashShares(hosts.set().priorities()[0], false);
}

Hosts evenHosts(size_t count) {
  Hosts hosts;
  for (size_t i = 0; i < count; ++i) hosts.add();
  return hosts;
}

// The host of each of so many hashes.
std::vector<const Host*> hostsOf(const HashTable& table, size_t count) {
  std::vector<const Host*> hosts;
  for (size_t i = 0; i < count; ++i) hosts.push_back(table.find({xxHash64(std::to_string(i))}));
  return hosts;
}

}  // namespace

TEST("Murmur hashes are those of the C++ library") {
  EXPECT_EQ(murmurHash2(""), 6142509188972423790u);
  EXPECT_EQ(murmurHash2("a"), 4993892634952068459u);
  EXPECT_EQ(murmurHash2("abcdefgh12345"), std::hash<std::string>()("abcdefgh12345"));
}

TEST("XXH64 has seeds") {
  EXPECT_EQ(xxHash64("a", 1), 0xDEC2BC81C3CD46C6u);
  EXPECT(xxHash64(std::string(40, 'x'), 1) != xxHash64(std::string(40, 'x')));
}

TEST("A ring has as many points as its least share needs, and a host's are by its name") {
  Hosts hosts;
  hosts.add().add();
  const RingTable ring(sharesOf(hosts), ringSettings(4));
  EXPECT_EQ(ring.figures().size, 4u);
  EXPECT_EQ(ring.figures().min_per_host, 2u);
  // The point itself, and what comes before it: its host's.
  const uint64_t point = xxHash64("10.0.0.1:2_1");
  EXPECT(ring.find({point}) == &hosts.at(1));
  const uint64_t other = xxHash64("10.0.0.1:1_0");
  EXPECT(ring.find({other}) == &hosts.at(0));
  std::set<uint64_t> points;
  for (const char* name : {"10.0.0.1:1_0", "10.0.0.1:1_1", "10.0.0.1:2_0", "10.0.0.1:2_1"}) {
    points.insert(xxHash64(name));
  }
  // Behind the last comes the first.
  EXPECT(ring.find({*points.rbegin() + 1}) == ring.find({*points.begin()}));
  // Another attempt goes on to the next point.
  EXPECT(ring.find({*points.begin(), 1}) == ring.find({*std::next(points.begin())}));
}

TEST("A ring that may not be as large shares out what there is") {
  const RingTable ring(sharesOf(evenHosts(4)), ringSettings(6, 6));
  EXPECT_EQ(ring.figures().size, 6u);
  EXPECT_EQ(ring.figures().min_per_host, 1u);
  EXPECT_EQ(ring.figures().max_per_host, 2u);
}

TEST("Maglev's table is full, of all hosts, in proportion to their weights") {
  Hosts hosts;
  hosts.add(1).add(2).add(3);
  const MaglevTable table(sharesOf(hosts), maglevSettings(6007));
  EXPECT_EQ(table.figures().size, 6007u);
  EXPECT(table.figures().min_per_host >= 1000 && table.figures().min_per_host <= 1002);
  EXPECT(table.figures().max_per_host >= 3002 && table.figures().max_per_host <= 3005);
  std::map<const Host*, int> counts;
  for (uint64_t place = 0; place < 6007; ++place) ++counts[table.find({place})];
  EXPECT_EQ(counts[&hosts.at(0)], static_cast<int>(table.figures().min_per_host));
  EXPECT_EQ(counts[&hosts.at(2)], static_cast<int>(table.figures().max_per_host));
}

TEST("Maglev counts one entry of a host that is alone") {
  Hosts hosts;
  hosts.add(1);
  const MaglevTable table(sharesOf(hosts), maglevSettings(499));
  EXPECT_EQ(table.figures().min_per_host, 1u);
  EXPECT_EQ(table.figures().max_per_host, 1u);
}

TEST("Maglev does not depend on the order of hosts") {
  Hosts one;
  Hosts other;
  for (const int port : {1, 2, 3, 4, 5}) {
    for (Hosts* hosts : {&one, &other}) {
      plan::Host host;
      host.address.emplace().ip = std::string("\x0a\0\0\1", 4);
      host.address->port = static_cast<uint32_t>(hosts == &one ? port : 6 - port);
      host.weight = 1;
      hosts->add(host);
    }
  }
  const MaglevTable first(sharesOf(one), maglevSettings(499));
  const MaglevTable second(sharesOf(other), maglevSettings(499));
  for (uint64_t hash = 0; hash < 499; ++hash) {
    EXPECT_EQ(first.find({hash})->text(), second.find({hash})->text());
  }
}

TEST("Hosts are known by their key, else by their name where that is asked for") {
  plan::Host host;
  host.address.emplace().ip = std::string("\x0a\0\0\1", 4);
  host.address->port = 7;
  host.hostname = "a.test";
  const Host plain(std::make_shared<const plan::Host>(host), 1);
  EXPECT_EQ(hashKey(plain, false), "10.0.0.1:7");
  EXPECT_EQ(hashKey(plain, true), "a.test");
  host.hash_key = "k";
  const Host keyed(std::make_shared<const plan::Host>(host), 1);
  EXPECT_EQ(hashKey(keyed, true), "k");
}

TEST("One of 1,000 hosts that leaves takes its own hashes along, and few others") {
  const Hosts all = evenHosts(1000);
  Hosts fewer;
  for (size_t i = 0; i < 1000; ++i) {
    if (i != 500) fewer.add(all.at(i).settings());
  }
  const auto table = [](Kind kind, const Hosts& hosts) -> std::unique_ptr<HashTable> {
    if (kind == Kind::Maglev) {
      return std::make_unique<MaglevTable>(sharesOf(hosts), maglevSettings());
    }
    return std::make_unique<RingTable>(sharesOf(hosts), ringSettings(100'000));
  };
  // By text: these hosts are other objects.
  const auto share = [&](Kind kind) {
    const auto before = table(kind, all);
    const auto after = table(kind, fewer);
    size_t count = 0;
    constexpr size_t kHashes = 20'000;
    for (size_t i = 0; i < kHashes; ++i) {
      const uint64_t hash = xxHash64(std::to_string(i));
      const Host* was = before->find({hash});
      count += was != &all.at(500) && was->text() != after->find({hash})->text();
    }
    return static_cast<double>(count) / kHashes;
  };
  // Those who stay have a point more each.
  EXPECT(share(Kind::RingHash) < 0.02);
  // The paper's measure for a table a hundred times as large as there are hosts.
  EXPECT(share(Kind::Maglev) < 0.03);
}

TEST("Hosts share hashes by weight") {
  Hosts hosts;
  for (const uint32_t weight : {1, 2, 3, 4}) hosts.add(weight);
  constexpr int kHashes = 20'000;
  const MaglevTable table(sharesOf(hosts), maglevSettings());
  test::Counts counts;
  for (int i = 0; i < kHashes; ++i) {
    ++counts[table.find({xxHash64(std::to_string(i))})->address().port()];
  }
  EXPECT(test::areSharedAs(counts, {1, 2, 3, 4}));
}

TEST("Tables are of healthy hosts, of all in panic, and weigh localities where that is asked for") {
  plan::Cluster cluster = clusterOf(Kind::RingHash, ringSettings());
  HostSet some = Hosts().add().add().add(1, 0, Health::Unhealthy).set();
  buildHashTables(cluster, &some);
  for (const Host* host : hostsOf(*some.priorities()[0].table, 200)) EXPECT(host->isHealthy());
  HostSet sick = Hosts().add().add(1, 0, Health::Unhealthy).add(1, 0, Health::Unhealthy).set();
  buildHashTables(cluster, &sick);
  const auto all = hostsOf(*sick.priorities()[0].table, 200);
  EXPECT_EQ(std::set<const Host*>(all.begin(), all.end()).size(), 3u);
  cluster.weighs_localities = true;
  HostSet zones = Hosts().addIn("a", 1).addIn("b").zones("");
  buildHashTables(cluster, &zones);
  for (const Host* host : hostsOf(*zones.priorities()[0].table, 200)) {
    EXPECT_EQ(host->settings().zone, "a");
  }
  HostSet one = Hosts().add().set();
  for (const Kind kind : {Kind::RingHash, Kind::Maglev}) {
    buildHashTables(clusterOf(kind, plan::HashTable()), &one);
    EXPECT(!one.priorities()[0].table);
  }
  HostSet nobody = Hosts().set();
  EXPECT_EQ(buildHashTables(cluster, &nobody).size, 0u);
  EXPECT(!nobody.priorities()[0].table);
}

TEST("The same hash has the same host on every worker, and in every balancer") {
  HostSet set = evenHosts(20).set();
  const plan::Cluster cluster = clusterOf(Kind::Maglev, maglevSettings());
  buildHashTables(cluster, &set);
  const BalancerSettings settings{.kind = Kind::Maglev};
  Random random(1);
  Balancer one(settings, 0, random);
  Balancer other(settings, 0, random);
  one.setHosts(set);
  other.setHosts(set);
  std::set<const Host*> seen;
  for (uint64_t i = 0; i < 500; ++i) {
    const uint64_t hash = xxHash64(std::to_string(i));
    const Host* host = one.choose({.hash = hash}).host;
    EXPECT(host == other.choose({.hash = hash}).host);
    seen.insert(host);
  }
  EXPECT_EQ(seen.size(), 20u);
  // Without a hash any will do.
  seen.clear();
  for (int i = 0; i < 500; ++i) seen.insert(one.choose().host);
  EXPECT_EQ(seen.size(), 20u);
}

TEST("A priority is chosen by the hash too") {
  HostSet set = Hosts().add().add(1, 0, Health::Unhealthy).add(1, 1).set();
  buildHashTables(clusterOf(Kind::RingHash, ringSettings()), &set);
  const BalancerSettings settings{.kind = Kind::RingHash};
  Random random(1);
  Balancer balancer(settings, 0, random);
  balancer.setHosts(set);
  // 70 of 100.
  EXPECT_EQ(balancer.choose({.hash = 69}).host->address().port(), 1u);
  EXPECT_EQ(balancer.choose({.hash = 70}).host->address().port(), 3u);
}

TEST("A host that is busy passes on what is more than its share, always to the same") {
  Hosts hosts = evenHosts(10);
  HostSet set = hosts.set();
  plan::HashTable settings = ringSettings();
  settings.balance_factor_pct = 150;
  buildHashTables(clusterOf(Kind::RingHash, settings), &set);
  const HashTable& table = *set.priorities()[0].table;
  constexpr uint64_t kHash = 12'345;
  Host* const own = table.find({kHash});
  // (20 + 1) * 1.5 / 10: 4 slots.
  own->counters(0).rq_active.add(4);
  EXPECT(table.find({kHash, 0, 20}) == own);
  own->counters(0).rq_active.add(1);
  Host* const other = table.find({kHash, 0, 20});
  EXPECT(other != own);
  EXPECT(table.find({kHash, 0, 20}) == other);
  // All are busy: the least busy takes it.
  for (size_t i = 0; i < 10; ++i) hosts.at(i).counters(0).rq_active.add(i == 3 ? 50 : 100);
  EXPECT(table.find({kHash, 0, 20}) == &hosts.at(3));
}

}  // namespace fairlead::upstream
