// The hosts of a cluster at one moment, by priority, health and locality, with the share of traffic
// that each priority gets. Immutable once it is shared; replaced as a whole.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "upstream/hash_table.h"
#include "upstream/host.h"
#include "upstream/host_list.h"
#include "upstream/locality_shares.h"

namespace fairlead::upstream {

class SubsetIndex;

struct Locality {
  std::string region;
  std::string zone;
  std::string sub_zone;

  static Locality of(const Host& host);
  auto operator<=>(const Locality& other) const = default;
};

// The hosts of a priority that are in one place.
struct LocalityHosts {
  Locality where;
  HostList all;
  HostList healthy;
  HostList degraded;
  // As configured.
  uint32_t weight = 0;
  // The same, and less as fewer of its hosts are healthy or degraded. 0: it gets nothing.
  double healthy_weight = 0;
  double degraded_weight = 0;
};

struct PriorityHosts {
  HostList all;
  HostList healthy;
  HostList degraded;
  uint32_t excluded_count = 0;
  // Of sets that are grouped. The proxy's own, if it has hosts, is the first; the others are in the
  // order of their names.
  std::vector<LocalityHosts> localities;
  bool has_local = false;
  // Percent of all requests that go to this priority's healthy and degraded hosts.
  uint32_t healthy_load = 0;
  uint32_t degraded_load = 0;
  // Too few are healthy: requests go to all hosts, healthy or not.
  bool panic = false;
  // Of balancers that go by hashes. Null: none, or no host.
  std::shared_ptr<const HashTable> table;

  // Those whose health is known; the others count neither as healthy nor as lost.
  size_t countedHosts() const { return all.size() - excluded_count; }
  // So few are healthy or degraded.
  bool isBelow(uint32_t panic_threshold_pct) const;
};

// What a priority can take, and what it gets.
struct PriorityShare {
  // Percent of what it should take that its healthy and its degraded hosts can.
  uint32_t healthy = 0;
  uint32_t degraded = 0;
  // Too few of its hosts are healthy or degraded, unless other priorities can take all.
  bool is_below = false;
  size_t hosts = 0;

  uint32_t healthy_load = 0;
  uint32_t degraded_load = 0;
  bool panic = false;
};
// Healthy hosts of the first priorities come first, then the degraded ones in the same order; what
// rounding loses goes to the first priority that takes anything, healthy hosts before degraded
// ones. Where all panic, each gets traffic by its number of hosts. One at least.
void spreadLoads(std::vector<PriorityShare>* priorities);
// The share of traffic of each priority, healthy and degraded hosts, where those that are true in
// `avoided` get none. False: no other priority can take any.
bool spreadOver(const std::vector<PriorityShare>& priorities, const std::vector<bool>& avoided,
                std::vector<uint32_t>* healthy, std::vector<uint32_t>* degraded);

struct HostSetRules {
  // Below it a priority panics.
  uint32_t panic_threshold_pct = 50;
  // 140: a priority takes all its traffic while 100/140 of its hosts are healthy.
  uint32_t overprovisioning_pct = 140;
  // Hosts count by their weights there, and not one as much as the other.
  bool weighs_health = false;
  // Localities are told apart.
  bool groups_localities = false;
  // This proxy's own.
  Locality here = {};

  bool operator==(const HostSetRules&) const = default;
};

class HostSet {
 public:
  using Hosts = std::vector<std::shared_ptr<Host>>;

  // `settings`: what the hosts have from here on, which lives as long as the set. `whole`: these
  // are part of its hosts, and their localities have that part of their weights; null: all of it.
  HostSet(Hosts hosts, std::shared_ptr<const void> settings, HostSetRules rules,
          const HostSet* whole = nullptr);
  HostSet(Hosts hosts, std::shared_ptr<const void> settings, uint32_t panic_threshold_pct,
          uint32_t overprovisioning_pct)
      : HostSet(std::move(hosts), std::move(settings),
                HostSetRules{.panic_threshold_pct = panic_threshold_pct,
                             .overprovisioning_pct = overprovisioning_pct}) {}

  const Hosts& hosts() const { return hosts_; }
  const HostSetRules& rules() const { return rules_; }
  const std::shared_ptr<const void>& settings() const { return settings_; }
  // Made of the same hosts in the same order.
  bool isOf(const Hosts& hosts, const HostSetRules& rules) const {
    return rules_ == rules && hosts_ == hosts;
  }
  const std::vector<PriorityHosts>& priorities() const { return priorities_; }
  // Before it is shared.
  void setTable(size_t priority, std::shared_ptr<const HashTable> table) {
    priorities_[priority].table = std::move(table);
  }
  // Null: requests may go to all hosts.
  const SubsetIndex* subsets() const { return subsets_.get(); }
  // Before it is shared.
  void setSubsets(std::shared_ptr<const SubsetIndex> subsets) { subsets_ = std::move(subsets); }
  // Null: localities do not share by their load.
  LocalityShares* shares() const { return shares_.get(); }
  // Before it is shared.
  void setShares(std::shared_ptr<LocalityShares> shares) { shares_ = std::move(shares); }
  uint32_t healthyCount() const { return healthy_count_; }
  uint32_t degradedCount() const { return degraded_count_; }
  // Draining: they count neither as healthy nor as lost.
  uint32_t excludedCount() const { return excluded_count_; }
  uint32_t maxWeight() const { return max_weight_; }
  // What a priority can take, as an aggregate of clusters with that panic threshold reckons.
  PriorityShare shareOf(size_t priority, uint32_t panic_threshold_pct) const;
  // The priorities whose hosts are others than in `before`, in their order.
  std::vector<size_t> prioritiesOtherThan(const HostSet& before) const;

 private:
  struct Availability {
    uint32_t healthy = 0;
    uint32_t degraded = 0;
  };

  void place(Host* host);
  void groupLocalities(PriorityHosts& priority, const PriorityHosts* whole) const;
  // Percent of what it should take that it can.
  Availability availabilityOf(const PriorityHosts& priority) const;
  void spreadLoad();

  const Hosts hosts_;
  const std::shared_ptr<const void> settings_;
  const HostSetRules rules_;
  std::vector<PriorityHosts> priorities_;
  std::shared_ptr<const SubsetIndex> subsets_;
  std::shared_ptr<LocalityShares> shares_;
  uint32_t healthy_count_ = 0;
  uint32_t degraded_count_ = 0;
  uint32_t excluded_count_ = 0;
  uint32_t max_weight_ = 0;
};

}  // namespace fairlead::upstream
