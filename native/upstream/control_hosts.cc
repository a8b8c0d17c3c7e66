#include "upstream/control_hosts.h"

namespace fairlead::upstream {

std::shared_ptr<Host> ControlHosts::choose(const std::shared_ptr<Cluster>& cluster) {
  using Counter = stats::Cluster::Counter;
  std::unique_ptr<Entry>& entry = entries_[cluster->name()];
  if (!entry || entry->cluster != cluster) {
    entry = std::make_unique<Entry>(cluster, thread_, random_);
  }
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
