// Rings and Maglev tables beside their published constructions, made here once more as plainly as
// they are published; and what the constructions promise of hosts that come and go.
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/xxhash.h"
#include "test/native/test.h"
#include "test/native/upstream/fixtures.h"
#include "upstream/hash_table.h"
#include "upstream/hash_tables.h"

namespace fairlead::upstream {

namespace {

using Kind = plan::Cluster::Balancer;
using test::Hosts;

// Names of hosts, in the order of the tables.
std::vector<std::string> namesUpTo(size_t count, size_t without = SIZE_MAX) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) {
    if (i != without) names.push_back("host-" + std::to_string(i));
  }
  return names;
}

Hosts hostsNamed(const std::vector<std::string>& names, const std::vector<uint32_t>& weights = {}) {
  Hosts hosts;
  for (size_t i = 0; i < names.size(); ++i) {
    plan::Host host;
    host.address.emplace().ip = std::string("\x0a\0\0\1", 4);
    host.address->port = static_cast<uint32_t>(i + 1);
    host.weight = weights.empty() ? 1 : weights[i];
    host.hash_key = names[i];
    hosts.add(host);
  }
  return hosts;
}

// Hosts with the table that they share hashes by.
class Tabled {
 public:
  Tabled(const Hosts& hosts, Kind kind, const plan::HashTable& settings) : set_(hosts.set()) {
    plan::Cluster cluster;
    cluster.balancer = kind;
    cluster.hash_table = settings;
    figures_ = buildHashTables(cluster, &set_);
  }
  const HashTable& table() const { return *set_.priorities()[0].table; }
  const HashTable::Figures& figures() const { return figures_; }
  const std::string& nameOf(uint64_t hash) const {
    return table().find({hash})->settings().hash_key;
  }

 private:
  HostSet set_;
  HashTable::Figures figures_;
};

plan::HashTable ringOf(uint64_t points) {
  plan::HashTable settings;
  settings.min_size = points;
  settings.max_size = 8 << 20;
  return settings;
}

plan::HashTable maglevOf(uint64_t places) {
  plan::HashTable settings;
  settings.table_size = places;
  return settings;
}

// Ketama: each host has points of its name with a number behind it.
std::map<uint64_t, std::string> ketama(const std::vector<std::string>& names, int points) {
  std::map<uint64_t, std::string> ring;
  for (const std::string& name : names) {
    for (int i = 0; i < points; ++i) ring[xxHash64(name + "_" + std::to_string(i))] = name;
  }
  return ring;
}

// Figure "Pseudocode 1" of Maglev's paper, section 3.4: lists of preferences, and hosts that take
// their next ones in turn.
std::vector<std::string> maglev(std::vector<std::string> names, uint64_t places) {
  std::sort(names.begin(), names.end());
  std::vector<std::vector<uint64_t>> permutation;
  for (const std::string& name : names) {
    const uint64_t offset = xxHash64(name) % places;
    const uint64_t skip = xxHash64(name, 1) % (places - 1) + 1;
    std::vector<uint64_t>& own = permutation.emplace_back();
    for (uint64_t j = 0; j < places; ++j) own.push_back((offset + j * skip) % places);
  }
  std::vector<size_t> next(names.size());
  std::vector<std::string> entry(places);
  for (uint64_t filled = 0; filled < places;) {
    for (size_t i = 0; i < names.size() && filled < places; ++i) {
      while (!entry[permutation[i][next[i]]].empty()) ++next[i];
      entry[permutation[i][next[i]]] = names[i];
      ++filled;
    }
  }
  return entry;
}

// Of hashes that had a host which stays: how many have another one now.
double disturbed(const Tabled& before, const Tabled& after, const std::string& gone) {
  constexpr size_t kHashes = 20'000;
  size_t staying = 0;
  size_t moved = 0;
  for (size_t i = 0; i < kHashes; ++i) {
    const uint64_t hash = xxHash64("key-" + std::to_string(i));
    if (before.nameOf(hash) == gone) continue;
    ++staying;
    moved += before.nameOf(hash) != after.nameOf(hash);
  }
  return static_cast<double>(moved) / static_cast<double>(staying);
}

}  // namespace

TEST("A ring is Ketama's, point by point") {
  for (const size_t count : {2, 7, 50}) {
    const std::vector<std::string> names = namesUpTo(count);
    const Tabled ring(hostsNamed(names), Kind::RingHash, ringOf(1024));
    const int points = static_cast<int>((1024 + count - 1) / count);
    EXPECT_EQ(ring.figures().min_per_host, static_cast<uint64_t>(points));
    EXPECT_EQ(ring.figures().max_per_host, static_cast<uint64_t>(points));
    const auto reference = ketama(names, points);
    size_t others = 0;
    for (const auto& [at, name] : reference) {
      const auto next = reference.upper_bound(at);
      const std::string& behind = (next == reference.end() ? reference.begin() : next)->second;
      others += ring.nameOf(at) != name || ring.nameOf(at + 1) != behind;
    }
    EXPECT_EQ(others, 0u);
  }
}

TEST("A ring's hosts share hashes as their arcs are long") {
  const std::vector<std::string> names = namesUpTo(5);
  const Tabled ring(hostsNamed(names), Kind::RingHash, ringOf(1024));
  std::map<std::string, double> arcs;
  uint64_t from = 0;
  const auto reference = ketama(names, 205);
  for (const auto& [at, name] : reference) {
    arcs[name] += static_cast<double>(at - from);
    from = at;
  }
  arcs[reference.begin()->second] += static_cast<double>(UINT64_MAX - from);
  std::vector<double> parts;
  test::Counts counts;
  for (const std::string& name : names) parts.push_back(arcs[name]);
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    ++counts[ring.table().find({random.next()})->address().port()];
  }
  EXPECT(test::areSharedAs(counts, parts));
}

TEST("A table is Maglev's, place by place") {
  for (const size_t count : {2, 7, 50}) {
    const std::vector<std::string> names = namesUpTo(count);
    constexpr uint64_t kPlaces = 1009;
    const Tabled table(hostsNamed(names), Kind::Maglev, maglevOf(kPlaces));
    const std::vector<std::string> reference = maglev(names, kPlaces);
    size_t others = 0;
    for (uint64_t place = 0; place < kPlaces; ++place) {
      others += table.nameOf(place) != reference[place];
    }
    EXPECT_EQ(others, 0u);
    // "almost an equal share": of places, one more or less.
    EXPECT(table.figures().max_per_host - table.figures().min_per_host <= 1);
  }
}

TEST("One of 1,000 hosts that leaves or comes disturbs nobody else on a ring of as many points") {
  const Tabled all(hostsNamed(namesUpTo(1000)), Kind::RingHash, ringOf(1024));
  const Tabled fewer(hostsNamed(namesUpTo(1000, 500)), Kind::RingHash, ringOf(1024));
  EXPECT_EQ(all.figures().min_per_host, 2u);
  EXPECT_EQ(fewer.figures().min_per_host, 2u);
  EXPECT_EQ(disturbed(all, fewer, "host-500"), 0.0);
  // Those that have another host now have the new one.
  size_t elsewhere = 0;
  for (size_t i = 0; i < 20'000; ++i) {
    const uint64_t hash = xxHash64("key-" + std::to_string(i));
    const std::string& now = all.nameOf(hash);
    elsewhere += now != fewer.nameOf(hash) && now != "host-500";
  }
  EXPECT_EQ(elsewhere, 0u);
}

TEST("One of 1,000 hosts that leaves a Maglev table disturbs less than the paper measured") {
  const Tabled all(hostsNamed(namesUpTo(1000)), Kind::Maglev, maglevOf(65'537));
  const Tabled fewer(hostsNamed(namesUpTo(1000, 500)), Kind::Maglev, maglevOf(65'537));
  // Section 5.3, of a table of this size: up to 2 % more than those that had to move.
  EXPECT(disturbed(all, fewer, "host-500") < 0.02);
  // Figure 12 has a larger table for those who want fewer.
  const Tabled large(hostsNamed(namesUpTo(1000)), Kind::Maglev, maglevOf(655'373));
  const Tabled large_fewer(hostsNamed(namesUpTo(1000, 500)), Kind::Maglev, maglevOf(655'373));
  EXPECT(disturbed(large, large_fewer, "host-500") < 0.005);
}

TEST("A host whose weight grows takes hashes of others, who take none of each other's") {
  std::vector<uint32_t> weights(100, 10);
  const Tabled before(hostsNamed(namesUpTo(100), weights), Kind::RingHash, ringOf(995));
  weights[7] = 20;
  // As many points as before for each of the others.
  const Tabled after(hostsNamed(namesUpTo(100), weights), Kind::RingHash, ringOf(1009));
  EXPECT_EQ(before.figures().min_per_host, after.figures().min_per_host);
  EXPECT_EQ(after.figures().max_per_host, 2 * before.figures().max_per_host);
  size_t elsewhere = 0;
  for (size_t i = 0; i < 20'000; ++i) {
    const uint64_t hash = xxHash64("key-" + std::to_string(i));
    elsewhere += after.nameOf(hash) != before.nameOf(hash) && after.nameOf(hash) != "host-7";
  }
  EXPECT_EQ(elsewhere, 0u);
}

TEST(
    "Whatever hashes come, no host has more active requests than its bound while others have "
    "less") {
  for (const Kind kind : {Kind::RingHash, Kind::Maglev}) {
    plan::HashTable settings = kind == Kind::RingHash ? ringOf(1024) : maglevOf(1009);
    settings.balance_factor_pct = 125;
    const std::vector<uint32_t> weights = {1, 1, 2, 2, 4};
    const Hosts hosts = hostsNamed(namesUpTo(5), weights);
    const Tabled tabled(hosts, kind, settings);
    Random random(1);
    double worst = 0;
    for (uint64_t active = 0; active < 2000; ++active) {
      // Nine of ten ask for the same.
      const uint64_t hash = random.below(10) == 0 ? random.next() : 77;
      tabled.table().find({hash, 0, active})->counters(0).rq_active.add();
      for (size_t i = 0; i < 5; ++i) {
        // One that has all of its slots has not more than it should.
        const double of_all = std::ceil(1.25 * static_cast<double>(active + 1));
        const double slots = std::ceil(of_all * weights[i] / 10) + 1;
        const auto busy = static_cast<double>(hosts.at(i).counters(0).rq_active.read());
        worst = std::max(worst, busy / slots);
      }
    }
    EXPECT(worst <= 1);
  }
}

}  // namespace fairlead::upstream
