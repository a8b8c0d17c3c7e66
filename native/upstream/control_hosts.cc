#include "upstream/control_hosts.h"

#include "upstream/choice_counts.h"

namespace fairlead::upstream {

ControlHosts::Entry::Entry(const std::shared_ptr<Cluster>& of, unsigned thread, Random& random)
    : cluster(of), balancer(of->balancerSettings(), thread, random) {
  if (const auto& rules = of->settings().subsets) {
    subsets.emplace(*rules, of->balancerSettings(), balancer, thread, random);
  }
}

void ControlHosts::Entry::setHosts() {
  balancer.setHosts(*hosts);
  if (subsets) subsets->setHosts(*hosts, nullptr);
}

std::shared_ptr<Host> ControlHosts::choose(const std::shared_ptr<Cluster>& cluster) {
  const auto known = entries_.find(cluster->name());
  if (known == entries_.end() || known->second->cluster.lock() != cluster) {
    std::erase_if(entries_, [](const auto& item) { return item.second->cluster.expired(); });
    entries_[cluster->name()] = std::make_unique<Entry>(cluster, thread_, random_);
  }
  const std::unique_ptr<Entry>& entry = entries_[cluster->name()];
  if (cluster->hosts() && entry->hosts != cluster->hosts()) {
    entry->hosts = cluster->hosts();
    entry->setHosts();
  }
  const Choice choice = entry->choose();
  stats::Shard<stats::Cluster>& stats = *cluster->stats().shard(0);
  countChoice(stats, choice);
  if (!choice.host) {
    stats.add(stats::Cluster::Counter::UpstreamCxNoneHealthy);
    return nullptr;
  }
  return choice.host->shared_from_this();
}

}  // namespace fairlead::upstream
