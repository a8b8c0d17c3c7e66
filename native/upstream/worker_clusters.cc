#include "upstream/worker_clusters.h"

#include <utility>

namespace fairlead::upstream {

WorkerClusters::~WorkerClusters() { clear(); }

WorkerCluster* WorkerClusters::make(Entry& entry) {
  if (!entry.cluster) return nullptr;
  entry.live = std::make_unique<WorkerCluster>(entry.cluster, context_);
  entry.live->setHosts(entry.hosts, local_hosts_);
  return entry.live.get();
}

void WorkerClusters::set(uint32_t id, std::shared_ptr<Cluster> cluster,
                         std::shared_ptr<const HostSet> hosts) {
  if (id >= entries_.size()) entries_.resize(id + 1);
  Entry& entry = entries_[id];
  const Cluster* const one = cluster ? cluster.get() : entry.cluster.get();
  if (one && one->settings().is_local) setLocalHosts(cluster ? hosts : nullptr);
  if (cluster && entry.cluster == cluster) {
    entry.hosts = std::move(hosts);
    if (entry.live) entry.live->setHosts(entry.hosts, local_hosts_);
    return;
  }
  if (entry.cluster) {
    ids_.erase(entry.cluster->name());
    has_left_ = true;
  }
  if (cluster) ids_.emplace(cluster->name(), id);
  retire(std::exchange(entry.live, nullptr));
  entry.cluster = std::move(cluster);
  entry.hosts = std::move(hosts);
}

void WorkerClusters::setLocalHosts(std::shared_ptr<const HostSet> hosts) {
  local_hosts_ = std::move(hosts);
  for (Entry& entry : entries_) {
    if (entry.live) entry.live->setLocalHosts(local_hosts_);
  }
}

void WorkerClusters::retire(std::unique_ptr<WorkerCluster> cluster) {
  if (!cluster) return;
  cluster->drain();
  if (cluster->isEmpty()) return;
  cluster->tellWhenEmpty(this);
  leaving_.push_back(std::move(cluster));
}

void WorkerClusters::onDeferred() {
  std::erase_if(leaving_, [](const auto& cluster) { return cluster->isEmpty(); });
  if (context_.on_left) context_.on_left();
}

void WorkerClusters::clear() {
  ids_.clear();
  entries_.clear();
  leaving_.clear();
}

}  // namespace fairlead::upstream
