#include "worker/destinations.h"

#include <unordered_set>
#include <utility>

namespace fairlead::worker {

using upstream::Cluster;
using upstream::Host;
using upstream::HostCounters;

namespace {

// One that has just been made is about to be.
bool isUsed(const Host& host) {
  return host.sum(&HostCounters::cx_active) > 0 || host.sum(&HostCounters::rq_active) > 0 ||
         host.sum(&HostCounters::rq_pending_active) > 0 || host.sum(&HostCounters::cx_total) == 0;
}

}  // namespace

void Destinations::attach(Cluster& cluster, uint64_t now_ms) {
  const auto& plan = cluster.settings().destination_hosts;
  if (!plan) return;
  cluster.setMadeHosts(made_);
  turns_.set(cluster.name(), now_ms + plan->cleanup_interval_ms);
}

Destinations::Change& Destinations::changeOf(const std::shared_ptr<Cluster>& cluster,
                                             Changes* changes) {
  Change& change = (*changes)[cluster->name()];
  if (!change.cluster) change = {cluster, cluster->hosts()->hosts(), {}, 0};
  return change;
}

std::vector<Destinations::Change> Destinations::run(const ClustersByName& clusters,
                                                    uint64_t now_ms) {
  Changes changes;
  for (upstream::MadeHosts::Made& made : made_->take()) {
    const std::shared_ptr<Cluster> cluster = made.cluster.lock();
    const auto found = cluster ? clusters.find(cluster->name()) : clusters.end();
    if (found == clusters.end() || found->second != cluster) continue;
    Change& change = changeOf(cluster, &changes);
    change.made.push_back(made.host);
    change.hosts.push_back(std::move(made.host));
    ++change.count;
  }
  while (const std::optional<std::string> name = turns_.take(now_ms)) {
    const auto found = clusters.find(*name);
    if (found == clusters.end() || !found->second->settings().destination_hosts) continue;
    dropUnused(found->second, &changes);
    turns_.set(*name, now_ms + found->second->settings().destination_hosts->cleanup_interval_ms);
  }
  std::vector<Change> list;
  for (auto& [name, change] : changes) list.push_back(std::move(change));
  return list;
}

void Destinations::dropUnused(const std::shared_ptr<Cluster>& cluster, Changes* changes) {
  const auto& hosts = cluster->hosts()->hosts();
  std::unordered_set<const Host*> unused;
  for (const auto& host : hosts) {
    if (!isUsed(*host)) unused.insert(host.get());
  }
  if (unused.empty()) return;
  Change& change = changeOf(cluster, changes);
  change.count += unused.size();
  std::erase_if(change.hosts, [&unused](const auto& host) { return unused.contains(host.get()); });
}

}  // namespace fairlead::worker
