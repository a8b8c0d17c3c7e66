#include "upstream/hash_tables.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace fairlead::upstream {

namespace {

void addShares(const HostList& hosts, double together, std::vector<HashShare>* shares) {
  const auto sum = static_cast<double>(hosts.sumOfWeights());
  for (Host* host : hosts) shares->push_back({host, host->weight() * together / sum});
}

// Null: there is no room for any host.
std::shared_ptr<const HashTable> buildTable(const plan::Cluster& cluster,
                                            std::vector<HashShare> shares) {
  const plan::HashTable settings = cluster.hash_table.value_or(plan::HashTable());
  std::shared_ptr<const HashTable> table;
  if (cluster.balancer == plan::Cluster::Balancer::Maglev) {
    if (settings.table_size < 2) return nullptr;
    table = std::make_shared<MaglevTable>(shares, settings);
  } else {
    if (settings.min_size == 0 || settings.max_size == 0) return nullptr;
    table = std::make_shared<RingTable>(shares, settings);
  }
  if (settings.balance_factor_pct == 0) return table;
  return std::make_shared<BoundedTable>(std::move(table), std::move(shares),
                                        settings.balance_factor_pct);
}

}  // namespace

std::vector<HashShare> hashShares(const PriorityHosts& priority, bool weighs_localities) {
  std::vector<HashShare> shares;
  uint64_t sum = 0;
  if (weighs_localities) {
    for (const LocalityHosts& locality : priority.localities) sum += locality.weight;
  }
  const bool are_weighted = weighs_localities && !priority.localities.empty();
  if (!are_weighted) {
    addShares(priority.panic ? priority.all : priority.healthy, 1, &shares);
    return shares;
  }
  if (sum == 0) return shares;
  for (const LocalityHosts& locality : priority.localities) {
    const double weight = locality.weight;
    if (weight == 0) continue;
    addShares(priority.panic ? locality.all : locality.healthy, weight / static_cast<double>(sum),
              &shares);
  }
  return shares;
}

HashTable::Figures buildHashTables(const plan::Cluster& cluster, HostSet* set) {
  using Kind = plan::Cluster::Balancer;
  HashTable::Figures figures;
  if (cluster.balancer != Kind::RingHash && cluster.balancer != Kind::Maglev) return figures;
  for (size_t i = 0; i < set->priorities().size(); ++i) {
    std::vector<HashShare> shares = hashShares(set->priorities()[i], cluster.weighs_localities);
    if (shares.empty()) continue;
    std::shared_ptr<const HashTable> table = buildTable(cluster, std::move(shares));
    if (!table) continue;
    figures = table->figures();
    set->setTable(i, std::move(table));
  }
  return figures;
}

// ---- bounded loads ----

BoundedTable::BoundedTable(std::shared_ptr<const HashTable> table, std::vector<HashShare> shares,
                           uint32_t balance_factor_pct)
    : table_(std::move(table)), shares_(std::move(shares)), factor_pct_(balance_factor_pct) {
  figures_ = table_->figures();
  for (uint32_t i = 0; i < shares_.size(); ++i) places_.emplace(shares_[i].host, i);
}

namespace {

// Uniform below `bound`, of one of the numbers that follow.
uint32_t below(std::mt19937& random, uint32_t bound) {
  const uint64_t part = (uint64_t{std::mt19937::max()} + 1) / bound;
  uint64_t number = bound;
  while (number >= bound) number = random() / part;
  return static_cast<uint32_t>(number);
}

// The numbers below `count`, shuffled only as far as they are asked for: of ten thousand most often
// one or two are. The same seed shuffles them alike. One at a time on a thread, whose numbers are
// in order again when it ends.
class Shuffle {
 public:
  Shuffle(uint32_t count, uint64_t seed)
      : count_(count), random_(static_cast<std::mt19937::result_type>(seed)) {
    swapped_.clear();
    for (auto next = static_cast<uint32_t>(numbers_.size()); next < count; ++next) {
      numbers_.push_back(next);
    }
  }
  Shuffle(const Shuffle&) = delete;
  Shuffle& operator=(const Shuffle&) = delete;
  ~Shuffle() {
    for (size_t i = swapped_.size(); i > 0; --i)
      std::swap(numbers_[i - 1], numbers_[swapped_[i - 1]]);
  }

  // As often as there are numbers.
  uint32_t next() {
    const auto at = static_cast<uint32_t>(swapped_.size());
    swapped_.push_back(at + below(random_, count_ - at));
    std::swap(numbers_[at], numbers_[swapped_[at]]);
    return numbers_[at];
  }

 private:
  static thread_local std::vector<uint32_t> numbers_;
  // Where each of those that were asked for came from.
  static thread_local std::vector<uint32_t> swapped_;

  const uint32_t count_;
  std::mt19937 random_;
};

thread_local std::vector<uint32_t> Shuffle::numbers_;
thread_local std::vector<uint32_t> Shuffle::swapped_;

}  // namespace

// Of what it may have; more than 1 is too much.
double BoundedTable::loadOf(const HashShare& share, uint64_t active_requests) const {
  const auto slots_of_all = static_cast<double>(((active_requests + 1) * factor_pct_ + 99) / 100);
  const double slots = std::max(std::ceil(slots_of_all * share.share), 1.0);
  return static_cast<double>(share.host->sum(&HostCounters::rq_active)) / slots;
}

// Where the first is busy all others may have to be asked: a lower factor asks more of them.
Host* BoundedTable::find(const HashPick& pick) const {
  Host* const first = table_->find(pick);
  double least = loadOf(shares_[places_.at(first)], pick.active_requests);
  if (least <= 1) return first;
  Host* least_loaded = first;
  // The same order of the others for the same hash.
  const auto count = static_cast<uint32_t>(shares_.size());
  Shuffle order(count, pick.hash);
  for (uint32_t i = 0; i < count; ++i) {
    const HashShare& other = shares_[order.next()];
    if (other.host == first) continue;
    const double load = loadOf(other, pick.active_requests);
    if (load <= 1) return other.host;
    if (load < least) {
      least = load;
      least_loaded = other.host;
    }
  }
  return least_loaded;
}

}  // namespace fairlead::upstream
