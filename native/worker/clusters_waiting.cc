// Clusters that wait for what they need, and for a round of checks, before they take their places.
#include <utility>

#include "worker/clusters.h"

namespace fairlead::worker {

namespace {

using ClusterGauge = stats::Cluster::Gauge;
using upstream::Cluster;
using upstream::HostSet;

}  // namespace

void Clusters::wait(Made made) {
  Cluster& cluster = *made.cluster;
  cluster.setHosts(noHosts(cluster.hostSetRules().panic_threshold_pct));
  outliers_.attach(cluster, upstream::hostClockMs());
  cluster.stats().shard(0)->set(ClusterGauge::WarmingState, 1);
  if (made.checks) checks_[&cluster] = std::move(made.checks);
  made.has_waited = true;
  waiting_[cluster.name()] = std::move(made);
  showWaiting();
}

void Clusters::forgetWaiting(const std::string& name) {
  auto waiting = waiting_.extract(name);
  if (!waiting) return;
  stopChecks(*waiting.mapped().cluster);
  waiting.mapped().cluster->setOutlierDetector(nullptr);
  retired_.add(std::move(waiting.mapped().cluster));
  showWaiting();
}

bool Clusters::isWaiting(const Cluster& cluster) const {
  const auto found = waiting_.find(cluster.name());
  return found != waiting_.end() && found->second.cluster.get() == &cluster;
}

std::shared_ptr<Cluster> Clusters::findAny(const std::string& name) const {
  if (const auto found = clusters_.find(name); found != clusters_.end()) return found->second;
  const auto waiting = waiting_.find(name);
  return waiting == waiting_.end() ? nullptr : waiting->second.cluster;
}

void Clusters::beginRound(const std::string& name, bool with_earlier) {
  const auto waiting = waiting_.find(name);
  if (waiting == waiting_.end()) return;
  Made& made = waiting->second;
  made.cluster->stats().shard(0)->set(ClusterGauge::WarmingState, 0);
  if (checks_.contains(made.cluster.get())) {
    checker_.beginRound(made.cluster->life(), with_earlier);
  } else {
    made.is_round_over = true;
  }
}

void Clusters::endRounds(const std::unordered_set<upstream::ClusterLife>& ended) {
  if (ended.empty()) return;
  for (auto& [name, made] : waiting_) {
    if (ended.contains(made.cluster->life())) made.is_round_over = true;
  }
}

bool Clusters::awaitsRound(const std::string& name) const {
  const auto waiting = waiting_.find(name);
  return waiting != waiting_.end() && !waiting->second.is_round_over;
}

Result<void> Clusters::endWait(const std::string& name, Delta* delta) {
  auto waiting = waiting_.extract(name);
  if (!waiting) return {};
  showWaiting();
  // Who waits for all checks looks again.
  if (checks_.contains(waiting.mapped().cluster.get())) health_->post({});
  return putInPlace(std::move(waiting.mapped()), delta);
}

// Nobody has heard of their health while it waited.
std::shared_ptr<const HostSet> Clusters::ownHosts(Cluster& cluster) {
  std::shared_ptr<const HostSet> hosts = cluster.hosts();
  if (!hosts->hosts().empty()) {
    auto set = std::make_shared<HostSet>(hosts->hosts(), hosts->settings(), hosts->rules());
    prepareBalancing(cluster, set.get());
    hosts = std::move(set);
  }
  if (cluster.settings().health_check) countMembers(cluster, *hosts);
  return hosts;
}

}  // namespace fairlead::worker
