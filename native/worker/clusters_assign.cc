// The hosts that a cluster is given, and what of it is new.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "worker/clusters.h"

namespace fairlead::worker {

namespace {

using upstream::HealthFlag;

// As the real server: one in another locality is another host, and so is one that discovery calls
// by another name.
bool isMoved(const plan::Host& from, const plan::Host& to, bool is_discovered) {
  if (is_discovered && from.hostname != to.hostname) return true;
  return from.region != to.region || from.zone != to.zone || from.sub_zone != to.sub_zone;
}

SharedWatch watchOf(const Host& host) { return host.outlier() ? host.outlier()->watch() : nullptr; }

}  // namespace

Clusters::Taken Clusters::takeHosts(Cluster& cluster, const HostPlans& plans) {
  static const Hosts kNone;
  const bool is_checked = cluster.settings().health_check.has_value();
  const bool is_discovered = cluster.settings().is_discovered;
  // A cluster in another's place has hosts of its own, unless checks are to go on.
  const bool is_fresh = !cluster.wasAssigned() && !is_checked;
  upstream::KnownHosts known(is_fresh ? kNone : cluster.hosts()->hosts());
  const SharedWatch watch = watchOf(cluster);
  const auto load = upstream::HostLoad::Uses::of(cluster.settings());
  using Change = UpdateWindows::Change;
  Taken taken;
  taken.hosts.reserve(plans->size());
  taken.updates.resize(cluster.hosts()->priorities().size(), Change::None);
  for (const plan::Host& plan : *plans) {
    std::shared_ptr<Host> host = known.take(taken.hosts.size(), plan);
    const plan::Host* const before = host ? &host->settings() : nullptr;
    const bool is_others = host && is_checked && before->is_not_checked != plan.is_not_checked;
    if (host && (is_others || isMoved(*before, plan, is_discovered))) {
      taken.replaced.push_back(std::exchange(host, nullptr));
    }
    // Checked elsewhere it is another host, beside the one that is well still.
    if (host && is_checked && !upstream::isCheckedAlike(*before, plan)) host = nullptr;
    // One that another detector watches is another host.
    if (host && watchOf(*host) != watch) host = nullptr;
    // So is one of which less, or more, is to be known.
    if (host && (host->load() ? host->load()->uses() : upstream::HostLoad::Uses()) != load) {
      host = nullptr;
    }
    const bool is_as_before = host && upstream::isSameHost(*before, plan);
    taken.is_same = taken.is_same && is_as_before;
    if (plan.priority >= taken.updates.size()) {
      taken.updates.resize(plan.priority + 1, Change::None);
    }
    if (host && !is_as_before) taken.updates[plan.priority] = Change::Members;
    // As the real server, which makes all of them anew before it looks which are there.
    if (!host || is_discovered) cluster.countTransport(cluster.transportMatch(plan), 0);
    // And once more for what one that is there has become.
    if (host && is_discovered && !upstream::isDescribedAlike(*before, plan)) {
      cluster.countTransport(cluster.transportMatch(plan), 0);
    }
    if (!host) {
      host = std::make_shared<Host>(upstream::HostSettings(plans, &plan), workers_, watch, load);
      host->setZoneStats(zoneStatsOf(cluster, plan.zone));
      setUnchecked(cluster, *host);
    }
    taken.hosts.push_back(std::move(host));
  }
  return taken;
}

Clusters::Hosts Clusters::wellOnes(const Cluster& cluster, const Taken& named) const {
  const plan::Cluster& plan = cluster.settings();
  const bool is_discovered = plan.is_resolved || plan.is_discovered;
  Hosts well;
  if (!is_discovered || !plan.health_check || !plan.keeps_well_hosts) return well;
  if (!cluster.wasAssigned()) return well;
  std::unordered_set<std::shared_ptr<Host>> others(named.hosts.begin(), named.hosts.end());
  others.insert(named.replaced.begin(), named.replaced.end());
  for (const auto& host : cluster.hosts()->hosts()) {
    if (others.contains(host) || host->settings().is_not_checked) continue;
    if (host->health().has(HealthFlag::FailedActive | HealthFlag::FailedEds)) continue;
    well.push_back(host);
  }
  return well;
}

void Clusters::showMaxWeight(Cluster& cluster, const plan::Assignment& plan,
                             const std::vector<plan::Host>& hosts) {
  cluster.seePriority(plan.last_priority);
  uint32_t most = 1;
  for (const plan::Host& host : hosts) {
    if (host.priority == cluster.lastPriority()) most = std::max(most, host.weight);
  }
  cluster.stats().shard(0)->set(ClusterGauge::MaxHostWeight, most);
}

Result<void> Clusters::assign(plan::Assignment plan, Delta* delta) {
  const auto waiting = waiting_.find(plan.cluster_name);
  if (plan.is_former && waiting == waiting_.end()) return {};
  if (!plan.is_former && waiting != waiting_.end()) {
    return assignTo(waiting->second.cluster, std::move(plan), nullptr);
  }
  const auto found = clusters_.find(plan.cluster_name);
  if (found == clusters_.end()) return Error{"there is no cluster of this name"};
  return assignTo(found->second, std::move(plan), delta);
}

Result<void> Clusters::assignTo(const std::shared_ptr<Cluster>& place, plan::Assignment plan,
                                Delta* delta) {
  Cluster& cluster = *place;
  const bool is_waiting = isWaiting(cluster);
  const HostSet& before = *cluster.hosts();
  upstream::HostSetRules rules = cluster.hostSetRules();
  rules.overprovisioning_pct = plan.overprovisioning_factor_pct;
  rules.weighs_health = plan.weighs_health;
  const auto all = std::make_shared<const std::vector<plan::Host>>(std::move(plan.hosts));
  Taken taken = takeHosts(cluster, all);
  const Hosts well = wellOnes(cluster, taken);
  const bool is_discovered = cluster.settings().is_discovered;
  const bool was_assigned = cluster.wasAssigned();
  cluster.setAssigned();
  if (is_discovered) showMaxWeight(cluster, plan, *all);
  for (const auto& host : taken.hosts) host->changeHealth(HealthFlag::PendingRemoval, {});
  for (const auto& host : well) host->changeHealth({}, HealthFlag::PendingRemoval);
  // As in the real server, the order of hosts is nothing new, and neither is one that stays.
  const bool is_same = is_discovered
                           ? was_assigned && taken.is_same && before.rules() == rules &&
                                 taken.hosts.size() + well.size() == before.hosts().size()
                           : !all->empty() && taken.is_same && before.isOf(taken.hosts, rules);
  const bool is_nothing = is_same || (all->empty() && before.hosts().empty());
  if (is_discovered && is_nothing) {
    cluster.stats().shard(0)->add(ClusterCounter::UpdateNoRebuild);
  }
  // Balancers go on where they are; nothing else is told to workers either.
  if (is_same) {
    if (!is_waiting) noteReady(cluster);
    return {};
  }
  cluster.setDrops(plan.drop_millionths, plan.drop_category);
  Hosts hosts = std::move(taken.hosts);
  for (size_t i = 0; i < hosts.size(); ++i) {
    hosts[i]->setSettings(upstream::HostSettings(all, &(*all)[i]));
  }
  hosts.insert(hosts.end(), well.begin(), well.end());
  // Those that only stay have settings of an earlier assignment, which lives on with this one.
  std::shared_ptr<const void> settings = all;
  if (!well.empty()) {
    using Both = std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>;
    settings = std::make_shared<const Both>(all, before.settings());
  }
  if (const SharedWatch watch = watchOf(cluster)) watch->detector->setHosts(hosts);
  // Those that come later are weighed with those that are there.
  if (upstream::HostLoad::Uses::of(cluster.settings()).weights && !before.hosts().empty()) {
    LoadWeights::update(cluster, hosts, upstream::hostClockMs());
  }
  auto set = std::make_shared<HostSet>(std::move(hosts), std::move(settings), std::move(rules));
  if (!is_waiting) prepareBalancing(cluster, set.get());
  std::vector<UpdateWindows::Change> updates = std::move(taken.updates);
  for (const size_t priority : set->prioritiesOtherThan(before)) {
    if (priority >= updates.size()) updates.resize(priority + 1, UpdateWindows::Change::None);
    updates[priority] = UpdateWindows::Change::Members;
  }
  // What discovery says is told at once, also where the hosts stay, and counts as one.
  if (is_waiting) {
    // Nobody is told yet.
  } else if (is_discovered) {
    noteWhole(cluster, updates);
  } else {
    noteUpdate(cluster, updates);
  }
  // One that has had no hosts yet shows what the one before it had.
  if (was_assigned || !all->empty() || plan.shows_members) {
    countMembers(cluster, *set, plan.shows_members);
  }
  retire(cluster);
  if (is_waiting) {
    cluster.setHosts(std::move(set));
    return check(cluster);
  }
  put(place, std::move(set), delta);
  // As the real server: a local cluster that is configured without hosts is nothing to go by.
  if (!is_nothing || is_discovered || !cluster.settings().is_local) countBalancing(cluster);
  auto checked = check(cluster);
  noteReady(cluster);
  return checked;
}

bool Clusters::hasOthersHosts(const std::string& name) const {
  const auto found = clusters_.find(name);
  if (found == clusters_.end()) return false;
  const Cluster& cluster = *found->second;
  return !cluster.wasAssigned() && cluster.hosts() && !cluster.hosts()->hosts().empty();
}

}  // namespace fairlead::worker
