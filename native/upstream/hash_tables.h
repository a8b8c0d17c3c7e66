// The hash tables of a cluster's host set: how hosts share hashes, by weight and locality, and how
// one that is busy passes requests on. The control thread makes them.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "upstream/host_set.h"

namespace fairlead::upstream {

// How hosts of this priority share: all of them in panic, else the healthy ones.
std::vector<HashShare> hashShares(const PriorityHosts& priority, bool weighs_localities);

// Gives `set` what `cluster` balances by. Of the last priority that has hosts; all 0: none has.
HashTable::Figures buildHashTables(const plan::Cluster& cluster, HostSet* set);

// Hosts that have more than their share of all active requests pass them on to one of the others,
// always the same one for a hash: V. Mirrokni et al., "Consistent Hashing with Bounded Loads", and
// J. Chen et al., "Revisiting Consistent Hashing with Bounded Loads".
class BoundedTable final : public HashTable {
 public:
  BoundedTable(std::shared_ptr<const HashTable> table, std::vector<HashShare> shares,
               uint32_t balance_factor_pct);
  Host* find(const HashPick& pick) const override;

 private:
  double loadOf(const HashShare& share, uint64_t active_requests) const;

  const std::shared_ptr<const HashTable> table_;
  const std::vector<HashShare> shares_;
  // Where hosts are in shares_.
  std::unordered_map<const Host*, uint32_t> places_;
  const uint32_t factor_pct_;
};

}  // namespace fairlead::upstream
