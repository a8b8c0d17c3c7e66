// The subsets of a cluster's hosts, by what requests ask for. Made by the control thread with the
// host set that it is of, shared by all workers, immutable.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "plan/subset_criteria.h"
#include "upstream/host_set.h"

namespace fairlead::upstream {

struct Subset {
  // Null where it has a single host.
  std::unique_ptr<const HostSet> hosts;
  Host* single = nullptr;
};

class SubsetIndex {
 public:
  // `settings` must outlive it. `rules`: of the sets that it makes, as of `all`.
  SubsetIndex(const plan::Cluster& settings, const HostSet& all, const HostSetRules& rules);

  // Null: no host is like that.
  const Subset* find(const plan::SubsetCriteria& criteria) const {
    const auto found = subsets_.find(criteria.text());
    return found == subsets_.end() ? nullptr : &found->second;
  }
  // The selector that has just these keys; null: there is none.
  const plan::SubsetSelector* selectorOf(const plan::SubsetCriteria& criteria) const {
    const auto found = selectors_.find(criteria.keys());
    return found == selectors_.end() ? nullptr : found->second;
  }
  // Hosts with the labels of the default subset; it is empty where nobody may fall back to it.
  const Subset& defaults() const { return defaults_; }
  size_t size() const { return subsets_.size(); }
  // How many of these are not in `other`. Null: it has none.
  size_t countMissingIn(const SubsetIndex* other) const;
  // Of the hash table that was made last: a subset's, or else the default subset's.
  const HashTable::Figures& figures() const { return figures_; }
  // Hosts that came second where one will do.
  uint64_t duplicates() const { return duplicates_; }

 private:
  using Hosts = HostSet::Hosts;

  void place(const plan::SubsetSelector& selector, const std::shared_ptr<Host>& host,
             std::map<std::string, Hosts>* groups);
  std::unique_ptr<const HostSet> makeSet(Hosts hosts, const HostSet& all,
                                         const HostSetRules& rules);

  const plan::Cluster& settings_;
  std::unordered_map<std::string, Subset> subsets_;
  std::unordered_map<std::string, const plan::SubsetSelector*> selectors_;
  Subset defaults_;
  uint64_t duplicates_ = 0;
  HashTable::Figures figures_;
};

}  // namespace fairlead::upstream
