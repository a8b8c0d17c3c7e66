#include "worker/load_weights.h"

#include <algorithm>
#include <optional>

namespace fairlead::worker {

using upstream::Cluster;
using upstream::Host;

namespace {

// Of an even number: half way between the two in the middle. 1: there are none.
uint32_t medianOf(std::vector<uint32_t>& weights) {
  if (weights.empty()) return 1;
  const auto middle = weights.begin() + static_cast<ptrdiff_t>(weights.size() / 2);
  std::nth_element(weights.begin(), middle, weights.end());
  if (weights.size() % 2 == 1) return *middle;
  const uint64_t below = *std::max_element(weights.begin(), middle);
  return static_cast<uint32_t>((below + *middle) / 2);
}

}  // namespace

void LoadWeights::attach(const Cluster& cluster, uint64_t now_ms) {
  const auto& rules = cluster.settings().load_weights;
  if (!rules) {
    turns_.drop(cluster.name());
    return;
  }
  turns_.set(cluster.name(), now_ms + rules->update_ms);
}

// Hosts that have reported too little, or too long ago, have the weight of most others. Priorities
// are apart.
bool LoadWeights::update(const Cluster& cluster, const Hosts& hosts, uint64_t now_ms) {
  const auto& rules = cluster.settings().load_weights;
  if (!rules) return false;
  struct Priority {
    std::vector<uint32_t> weights;
    std::vector<Host*> without;
  };
  std::map<uint32_t, Priority> priorities;
  bool has_changed = false;
  for (const auto& host : hosts) {
    if (!host->load()) continue;
    Priority& priority = priorities[host->priority()];
    const std::optional<uint32_t> weight = host->load()->reported(*rules, now_ms);
    if (weight) {
      priority.weights.push_back(*weight);
      has_changed |= host->load()->setWeight(std::max<uint32_t>(*weight, 1));
    } else {
      priority.without.push_back(host.get());
    }
  }
  for (auto& [_, priority] : priorities) {
    const uint32_t median = std::max<uint32_t>(medianOf(priority.weights), 1);
    for (Host* const host : priority.without) has_changed |= host->load()->setWeight(median);
  }
  return has_changed;
}

std::set<std::string> LoadWeights::run(const ClustersByName& clusters, uint64_t now_ms) {
  std::set<std::string> changed;
  while (const std::optional<std::string> name = turns_.take(now_ms)) {
    const auto found = clusters.find(*name);
    if (found == clusters.end() || !found->second->settings().load_weights) continue;
    const Cluster& cluster = *found->second;
    if (update(cluster, cluster.hosts()->hosts(), now_ms)) changed.insert(*name);
    turns_.set(*name, now_ms + cluster.settings().load_weights->update_ms);
  }
  return changed;
}

}  // namespace fairlead::worker
