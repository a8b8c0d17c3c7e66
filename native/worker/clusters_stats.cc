// What the control thread counts of clusters: members, subsets, zones, and the gauges of the
// cluster manager.
#include <algorithm>
#include <utility>

#include "stats/scopes.h"
#include "upstream/subset_index.h"
#include "worker/clusters.h"

namespace fairlead::worker {

namespace {

using ClusterCounter = stats::Cluster::Counter;
using ClusterGauge = stats::Cluster::Gauge;
using Gauge = stats::ClusterManager::Gauge;
using upstream::Cluster;
using upstream::HostSet;

}  // namespace

void Clusters::addStats(Cluster& cluster) {
  if (cluster.settings().is_resolved && !resolver_stats_) {
    resolver_stats_ = registry_.create<stats::DnsCares>(stats::plainScope("dns.cares."));
  }
  const stats::Scope& own = cluster.stats().scope();
  if (cluster.settings().http2) {
    cluster.setHttp2Stats(registry_.renew<stats::Http2Codec>(innerScope(own, "http2.")));
  }
  using Kind = plan::Cluster::Balancer;
  if (cluster.settings().balancer == Kind::RingHash) {
    cluster.setRingStats(registry_.create<stats::RingHashLb>(innerScope(own, "ring_hash_lb.")));
  }
  if (cluster.settings().balancer == Kind::Maglev) {
    cluster.setMaglevStats(registry_.create<stats::MaglevLb>(innerScope(own, "maglev_lb.")));
  }
  if (cluster.settings().is_discovered) cluster.keepStats(registry_.create<stats::Eds>(own));
  if (!cluster.settings().tracks_timeout_budgets && !cluster.settings().tracks_sizes) return;
  auto measures = std::make_unique<upstream::RequestMeasures>();
  if (cluster.settings().tracks_timeout_budgets) {
    measures->budgets = registry_.create<stats::ClusterTimeoutBudgets>(own);
  }
  if (cluster.settings().tracks_sizes) {
    measures->sizes = registry_.create<stats::ClusterSizes>(own);
  }
  cluster.setMeasures(std::move(measures));
}

void Clusters::countBalancing(Cluster& cluster) {
  if (cluster.settings().is_local) {
    countZonesOfAll();
  } else {
    countZones(cluster);
  }
}

std::shared_ptr<stats::Block<stats::ClusterZone>> Clusters::zoneStatsOf(Cluster& cluster,
                                                                        const std::string& zone) {
  if (zone_.empty() || zone.empty()) return nullptr;
  std::shared_ptr<stats::Block<stats::ClusterZone>>& stats = cluster.zoneStats(zone);
  if (!stats) {
    const stats::Scope scope = stats::zoneScope(cluster.observabilityName(), zone_, zone);
    stats = registry_.renew<stats::ClusterZone>(scope);
  }
  return stats;
}

void Clusters::countMembers(Cluster& cluster, const HostSet& hosts, bool shows_none) {
  stats::Shard<stats::Cluster>& stats = *cluster.stats().shard(0);
  const uint64_t changes = hosts.prioritiesOtherThan(*cluster.hosts()).size();
  if (changes > 0) stats.add(ClusterCounter::MembershipChange, changes);
  // Those of a cluster that never had a host stay gauges that nobody touched.
  if (changes == 0 && !shows_none && !stats.isSet(ClusterGauge::MembershipTotal)) return;
  stats.set(ClusterGauge::MembershipTotal, hosts.hosts().size());
  stats.set(ClusterGauge::MembershipHealthy, hosts.healthyCount());
  stats.set(ClusterGauge::MembershipDegraded, hosts.degradedCount());
  stats.set(ClusterGauge::MembershipExcluded, hosts.excludedCount());
}

// As many as every thread has.
void Clusters::countSubsets(Cluster& cluster, const upstream::SubsetIndex* now) {
  const upstream::SubsetIndex* const before =
      cluster.hosts() ? cluster.hosts()->subsets() : nullptr;
  const uint64_t threads = workers_ + 1;
  stats::Shard<stats::Cluster>& stats = *cluster.stats().shard(0);
  const auto add = [&](ClusterCounter counter, size_t subsets) {
    if (subsets > 0) stats.add(counter, subsets * threads);
  };
  add(ClusterCounter::LbSubsetsCreated, now->countMissingIn(before));
  if (before) add(ClusterCounter::LbSubsetsRemoved, before->countMissingIn(now));
  // Where there never was any it stays a gauge that nobody touched.
  if (now->size() > 0 || stats.isSet(ClusterGauge::LbSubsetsActive)) {
    stats.set(ClusterGauge::LbSubsetsActive, now->size() * threads);
  }
  stats.set(ClusterGauge::LbSubsetsSingleHostPerSubsetDuplicate, now->duplicates());
}

void Clusters::countZonesOfAll() {
  for (const auto& [name, cluster] : clusters_) {
    if (!cluster->hosts()->hosts().empty()) countZones(*cluster);
  }
}

void Clusters::countZones(Cluster& cluster) {
  using Refusal = upstream::ZoneRouting::Refusal;
  const upstream::BalancerSettings& settings = cluster.balancerSettings();
  if (!settings.zones || !local_hosts_ || settings.goesByHash()) return;
  countOnThreads(cluster, ClusterCounter::LbRecalculateZoneStructures, 1);
  const upstream::ZoneRouting zones(*settings.zones, *cluster.hosts(), *local_hosts_);
  switch (zones.refusal()) {
    case Refusal::None:
      break;
    case Refusal::LocalClusterNotOk:
      countOnThreads(cluster, ClusterCounter::LbLocalClusterNotOk, 1);
      break;
    case Refusal::ClusterTooSmall:
      countOnThreads(cluster, ClusterCounter::LbZoneClusterTooSmall, 1);
      break;
  }
}

void Clusters::countLocalities(Cluster& cluster, const HostSet& now) {
  const auto localitiesOf = [](const HostSet* set, size_t priority) {
    const bool is_there = set && priority < set->priorities().size();
    return is_there ? set->priorities()[priority].localities.size() : 0;
  };
  // The first time balancers are made, too, before they have hosts.
  uint64_t changes = cluster.hosts() && cluster.hosts()->shares() ? 0 : 1;
  for (size_t i = 0; i < now.priorities().size(); ++i) {
    if (localitiesOf(cluster.hosts().get(), i) != localitiesOf(&now, i)) ++changes;
  }
  if (changes == 0) return;
  countOnThreads(cluster, ClusterCounter::LbRecalculateZoneStructures, changes);
}

void Clusters::countOnThreads(Cluster& cluster, ClusterCounter counter, uint64_t times) {
  if (do_workers_run_) {
    cluster.stats().shard(0)->add(counter, times * (workers_ + 1));
    return;
  }
  cluster.stats().shard(0)->add(counter, times);
  owed_counts_.push_back({cluster.sharedStats(), counter, times * workers_});
}

void Clusters::startWorkers() {
  do_workers_run_ = true;
  for (const OwedCount& owed : owed_counts_) owed.stats->shard(0)->add(owed.counter, owed.times);
  owed_counts_ = {};
}

void Clusters::refreshGauges() {
  const auto publish = [](Cluster& cluster) {
    for (uint32_t priority = 0; priority < 2; ++priority) {
      cluster.publishLimits(priority, *cluster.stats().shard(0));
    }
  };
  for (const auto& [name, cluster] : clusters_) publish(*cluster);
  for (const auto& [name, made] : waiting_) {
    if (!clusters_.contains(name)) publish(*made.cluster);
  }
  endpoint_stats_.refresh(clusters_, &registry_);
}

void Clusters::showWaiting() { stats_->shard(0)->set(Gauge::WarmingClusters, waiting_.size()); }

void Clusters::setWarming(const std::string& name, bool is_warming) {
  const auto found = clusters_.find(name);
  if (found == clusters_.end()) return;
  if (found->second->settings().is_hidden) {
    found->second->setAwaitsName(is_warming);
    return;
  }
  found->second->stats().shard(0)->set(ClusterGauge::WarmingState, is_warming);
  // As in the real server: threads have the local cluster from the first.
  if (is_warming && !found->second->settings().is_local)
    warming_.insert(name);
  else
    warming_.erase(name);
  showCount();
  // Also where it has waited in vain.
  if (!is_warming) noteReady(*found->second);
}

// No thread waits for the first request before it knows a cluster.
void Clusters::showCount() {
  const uint64_t count = clusters_.size() - hidden_;
  stats_->shard(0)->set(Gauge::ActiveClusters, count);
  // As the real server: what has never had one shows no number of them as used.
  has_had_any_ |= count > 0;
  if (!has_had_any_) return;
  for (const auto& inflated : inflated_stats_) {
    inflated->shard(0)->set(stats::ClusterManagerThread::Gauge::ClustersInflated,
                            count - warming_.size());
  }
}

}  // namespace fairlead::worker
