// How well hosts are: whom checks ask, and what becomes of what they and outlier detection find
// out.
#include <algorithm>
#include <utility>

#include "worker/clusters.h"

namespace fairlead::worker {

namespace {

using upstream::Cluster;
using upstream::HealthFlag;
using upstream::Host;

// As in the real server, lists of hosts are not made anew for what these say, but for a first
// check.
constexpr upstream::HealthFlags kUnlisted =
    HealthFlag::ExcludedImmediately | HealthFlag::ActiveTimeout;

// Whether lists of hosts are to be made anew.
bool applyTo(Host& host, const upstream::HealthChange& change) {
  const upstream::HealthFlags before = host.health();
  if (!host.changeHealth(change.cleared, change.set)) return false;
  return change.is_first || host.health().without(kUnlisted) != before.without(kUnlisted);
}

}  // namespace

// What the checks of the one before have found out goes on where there are checks still.
void Clusters::forgetChecks(const Cluster& before, const Cluster& after) const {
  const bool were_checked = before.settings().health_check.has_value();
  if (were_checked == after.settings().health_check.has_value()) return;
  for (const auto& host : before.hosts()->hosts()) {
    if (were_checked) {
      host->changeHealth(health::kCheckFlags | HealthFlag::PendingRemoval, {});
      host->setAwaitsCheck(false);
    } else {
      setUnchecked(after, *host);
    }
  }
}

Result<std::shared_ptr<const health::CheckConfig>> Clusters::makeChecks(
    const std::shared_ptr<Cluster>& cluster) {
  if (!cluster->settings().health_check) return std::shared_ptr<const health::CheckConfig>();
  auto config = health::CheckConfig::build(cluster, registry_, logs_, workers_);
  if (config) cluster->setHealthInbox(health_);
  return config;
}

Result<void> Clusters::check(Cluster& cluster) {
  if (const auto config = checks_.find(&cluster); config != checks_.end()) {
    if (auto begun = checker_.check(config->second, cluster.hosts()); !begun) return begun;
  }
  if (isWaiting(cluster)) return {};
  const auto questions = questions_.find(cluster.id());
  if (questions == questions_.end()) return {};
  return checker_.ask(questions->second, cluster.hosts());
}

void Clusters::stopChecks(const Cluster& cluster) {
  if (checks_.erase(&cluster) > 0) checker_.remove(cluster.life());
}

void Clusters::stopQuestions(uint32_t cluster) {
  if (questions_.erase(cluster) > 0) checker_.stopAsking(cluster);
}

// Nobody knows whether it is well: it counts as not.
void Clusters::setUnchecked(const Cluster& cluster, Host& host) const {
  if (!cluster.settings().health_check || host.settings().is_not_checked) return;
  upstream::HealthFlags flags = HealthFlag::FailedActive;
  // Not those that a configuration lists once for all, as in the real server.
  const bool comes_later = cluster.settings().is_resolved || cluster.settings().is_discovered;
  if (comes_later && cluster.settings().excludes_unchecked) {
    flags = flags | HealthFlag::PendingActive;
  }
  host.changeHealth({}, flags);
  host.setAwaitsCheck(true);
}

bool Clusters::awaitsChecks() const {
  for (const auto& [cluster, config] : checks_) {
    if (isWaiting(*cluster)) return true;
    for (const auto& host : config->cluster().hosts()->hosts()) {
      if (host->awaitsCheck()) return true;
    }
  }
  return false;
}

void Clusters::noteReady(const Cluster& cluster) {
  const auto found = unready_.find(cluster.id());
  if (found == unready_.end()) return;
  for (const auto& host : cluster.hosts()->hosts()) {
    if (host->awaitsCheck()) return;
  }
  unready_.erase(found);
}

void Clusters::applyHealth(const std::vector<upstream::HealthChange>& changes, Delta* delta) {
  // How many, by whose they are.
  std::unordered_map<upstream::ClusterLife, size_t> changed;
  std::unordered_set<upstream::ClusterLife> ended;
  for (const upstream::HealthChange& change : changes) {
    if (change.ends_round) {
      ended.insert(change.cluster);
      continue;
    }
    const std::shared_ptr<Host> host = change.host.lock();
    if (host && change.is_first) host->setAwaitsCheck(false);
    if (change.is_said) checker_.onSaidUnwell(change.cluster, change.host);
    const bool has_changed = host && applyTo(*host, change);
    if (has_changed) {
      ++changed[change.cluster];
    } else if (host && change.is_first) {
      changed.try_emplace(change.cluster, 0);
    }
  }
  endRounds(ended);
  if (changed.empty()) return;
  // Those that wait look at their hosts when they have waited.
  for (const auto& [name, cluster] : clusters_) {
    const auto of_cluster = changed.find(cluster->life());
    if (of_cluster == changed.end()) continue;
    const size_t count = of_cluster->second;
    Hosts hosts = cluster->hosts()->hosts();
    // Those that stayed because they were well.
    const size_t gone = std::erase_if(hosts, [](const std::shared_ptr<Host>& host) {
      return host->health().has(HealthFlag::PendingRemoval) &&
             host->health().has(HealthFlag::FailedActive);
    });
    if (gone > 0) {
      const std::vector changes_of_all(cluster->hosts()->priorities().size(),
                                       UpdateWindows::Change::Members);
      noteUpdate(*cluster, changes_of_all);
      regroup(cluster, std::move(hosts), delta);
      // Its thread runs: nothing can be refused.
      static_cast<void>(check(*cluster));
    } else if (count > 0) {
      regroupByHealth(cluster, count, delta);
    }
    noteReady(*cluster);
  }
}

void Clusters::regroupByHealth(const std::shared_ptr<Cluster>& cluster, size_t changes,
                               Delta* delta) {
  // As the real server: each is an update of every priority.
  const std::vector details(cluster->hosts()->priorities().size(), UpdateWindows::Change::Details);
  bool is_told = false;
  for (size_t i = 0; i < changes; ++i) is_told |= noteUpdate(*cluster, details);
  regroup(cluster, cluster->hosts()->hosts(), is_told ? delta : nullptr);
  // As in the real server, what is unwell loses its connections before requests know of it.
  if (!is_told && delta) delta->push_back(HealthNews{cluster->id()});
}

void Clusters::detectOutliers(uint64_t now_ms, Delta* delta) {
  for (const auto& [name, changes] : outliers_.run(clusters_, now_ms)) {
    regroupByHealth(clusters_.at(name), changes, delta);
  }
}

}  // namespace fairlead::worker
