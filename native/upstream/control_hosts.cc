#include "upstream/control_hosts.h"

namespace fairlead::upstream {

std::shared_ptr<Host> ControlHosts::choose(const std::shared_ptr<Cluster>& cluster) {
  using Counter = stats::Cluster::Counter;
  const auto known = entries_.find(cluster->name());
  if (known == entries_.end() || known->second->cluster.lock() != cluster) {
    std::erase_if(entries_, [](const auto& item) { return item.second->cluster.expired(); });
    entries_[cluster->name()] = std::make_unique<Entry>(cluster, thread_, random_);
  }
  const std::unique_ptr<Entry>& entry = entries_[cluster->name()];
  if (cluster->hosts() && entry->hosts != cluster->hosts()) {
    entry->hosts = cluster->hosts();
    entry->balancer.setHosts(*entry->hosts);
  }
  const Choice choice = entry->balancer.choose();
  stats::Shard<stats::Cluster>& stats = *cluster->stats().shard(0);
  if (choice.panicked) stats.add(Counter::LbHealthyPanic);
  if (!choice.host) {
    stats.add(Counter::UpstreamCxNoneHealthy);
    return nullptr;
  }
  return choice.host->shared_from_this();
}

}  // namespace fairlead::upstream
