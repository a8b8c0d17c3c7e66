#include "worker/locality_loads.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "stats/scopes.h"

namespace fairlead::worker {

using upstream::HostList;
using upstream::LocalityHosts;
using upstream::LocalityShares;
using upstream::PriorityHosts;
using LocalityCounter = stats::LocalityLoads::Counter;

namespace {

constexpr double kMillion = 1'000'000;

const HostList& hostsOf(const LocalityHosts& locality, LocalityShares::Source source) {
  switch (source) {
    case LocalityShares::Source::Healthy:
      return locality.healthy;
    case LocalityShares::Source::Degraded:
      return locality.degraded;
    case LocalityShares::Source::All:
      break;
  }
  return locality.all;
}

// Of those that have said so lately; absent: none has.
std::optional<double> meanUtilization(const HostList& hosts, uint64_t expiration_ms,
                                      uint64_t now_ms) {
  double sum = 0;
  size_t count = 0;
  for (const upstream::Host* host : hosts) {
    if (!host->load()) continue;
    const std::optional<double> own = host->load()->utilization(expiration_ms, now_ms);
    if (!own) continue;
    sum += *own;
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

// How much the latest mean counts against what was known.
double newsShare(const plan::LocalityLoads& rules) {
  if (rules.smoothing_ms == 0) return 1;
  return 1 -
         std::exp(-static_cast<double>(rules.update_ms) / static_cast<double>(rules.smoothing_ms));
}

}  // namespace

void LocalityLoads::attach(upstream::Cluster& cluster, uint64_t now_ms) {
  const auto& rules = cluster.settings().locality_loads;
  if (!rules) {
    forget(cluster.name());
    return;
  }
  State& state = states_[cluster.name()] = {};
  state.stats = registry_.create<stats::LocalityLoads>(
      innerScope(cluster.stats().scope(), "load_aware_locality."));
  turns_.set(cluster.name(), now_ms + rules->update_ms);
}

void LocalityLoads::forget(const std::string& cluster) {
  if (states_.erase(cluster) > 0) turns_.drop(cluster);
}

void LocalityLoads::prepare(const upstream::Cluster& cluster, upstream::HostSet* set,
                            uint64_t now_ms) {
  const auto& rules = cluster.settings().locality_loads;
  const auto found = states_.find(cluster.name());
  if (!rules || found == states_.end()) return;
  std::vector<size_t> counts;
  for (const PriorityHosts& priority : set->priorities()) {
    counts.push_back(priority.localities.size());
  }
  set->setShares(std::make_shared<LocalityShares>(counts));
  State& state = found->second;
  if (!state.is_reckoned && !set->hosts().empty()) reckon(state, *rules, *set, now_ms);
  publish(state, *set);
}

void LocalityLoads::run(const ClustersByName& clusters, uint64_t now_ms) {
  while (const std::optional<std::string> name = turns_.take(now_ms)) {
    const auto cluster = clusters.find(*name);
    const auto state = states_.find(*name);
    if (cluster == clusters.end() || state == states_.end()) continue;
    const auto& rules = cluster->second->settings().locality_loads;
    if (!rules) continue;
    const upstream::HostSet& set = *cluster->second->hosts();
    reckon(state->second, *rules, set, now_ms);
    publish(state->second, set);
    turns_.set(*name, now_ms + rules->update_ms);
  }
}

// Workers that draw meanwhile do so by some of either.
void LocalityLoads::publish(const State& state, const upstream::HostSet& set) {
  LocalityShares* const shares = set.shares();
  if (!shares) return;
  for (size_t i = 0; i < set.priorities().size() && i < state.priorities.size(); ++i) {
    const std::vector<LocalityHosts>& localities = set.priorities()[i].localities;
    for (size_t s = 0; s < LocalityShares::kSources; ++s) {
      const Part& part = state.priorities[i][s];
      const auto source = static_cast<Source>(s);
      for (size_t at = 0; at < localities.size(); ++at) {
        const auto own = part.shares.find(localities[at].where);
        shares->set(i, source, at, own == part.shares.end() ? 0 : own->second);
      }
      shares->setAllLocal(i, source, part.is_all_local);
    }
  }
}

void LocalityLoads::reckon(State& state, const plan::LocalityLoads& rules,
                           const upstream::HostSet& set, uint64_t now_ms) {
  state.is_reckoned = true;
  state.priorities.resize(set.priorities().size());
  Found found;
  for (size_t i = 0; i < state.priorities.size(); ++i) {
    uint64_t stale = 0;
    for (size_t s = 0; s < LocalityShares::kSources; ++s) {
      Found own;
      reckonPart(state.priorities[i][s], rules, set.priorities()[i], static_cast<Source>(s), now_ms,
                 &own);
      found.all_overloaded |= own.all_overloaded;
      found.local_preferred |= own.local_preferred;
      found.probe_active |= own.probe_active;
      found.spill_active |= own.spill_active;
      // The last is of all hosts.
      stale = own.stale_localities;
    }
    found.stale_localities += stale;
  }
  stats::Shard<stats::LocalityLoads>& stats = *state.stats->shard(0);
  if (found.all_overloaded) stats.add(LocalityCounter::AllOverloadedTotal);
  if (found.local_preferred) stats.add(LocalityCounter::LocalPreferredTotal);
  if (found.probe_active) stats.add(LocalityCounter::ProbeActiveTotal);
  if (found.spill_active) stats.add(LocalityCounter::SpillActiveTotal);
  if (found.stale_localities > 0) {
    stats.add(LocalityCounter::StaleLocalityTotal, found.stale_localities);
  }
  stats.add(LocalityCounter::RecomputeTotal);
}

// A locality's share is what its hosts have left. This proxy's own has all of it while it is not
// much busier than the others, but for what these get to be heard of.
void LocalityLoads::reckonPart(Part& part, const plan::LocalityLoads& rules,
                               const PriorityHosts& hosts, Source source, uint64_t now_ms,
                               Found* found) {
  const size_t count = hosts.localities.size();
  std::vector<double> host_counts(count);
  std::vector<double> loads(count);
  std::vector<double> shares(count);
  ByLocality<double> known;
  for (size_t i = 0; i < count; ++i) {
    const LocalityHosts& locality = hosts.localities[i];
    const HostList& own = hostsOf(locality, source);
    host_counts[i] = static_cast<double>(own.size());
    const auto mean = meanUtilization(own, rules.expiration_ms, now_ms);
    const auto before = part.utilization.find(locality.where);
    bool is_stale = false;
    if (mean) {
      const double news = newsShare(rules);
      loads[i] =
          before == part.utilization.end() ? *mean : news * *mean + (1 - news) * before->second;
      known[locality.where] = loads[i];
    } else if (before != part.utilization.end()) {
      loads[i] = known[locality.where] = before->second;
      is_stale = true;
      ++found->stale_localities;
    }
    shares[i] = is_stale ? host_counts[i] : host_counts[i] * std::max(0.0, 1 - loads[i]);
  }
  part.utilization = std::move(known);
  part.is_all_local = false;

  const auto sumOf = [](const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
  };
  const double all_hosts = sumOf(host_counts);
  if (all_hosts > 0 && !(sumOf(shares) > 0)) {
    shares = host_counts;
    found->all_overloaded = true;
  } else if (all_hosts > 0 && hosts.has_local) {
    const double remote_hosts = all_hosts - host_counts[0];
    double remote_load = 0;
    for (size_t i = 1; i < count; ++i) remote_load += loads[i] * host_counts[i];
    if (host_counts[0] > 0 && remote_hosts > 0) {
      const double most = remote_load / remote_hosts + rules.threshold_millionths / kMillion;
      if (loads[0] <= most) {
        std::fill(shares.begin(), shares.end(), 0.0);
        shares[0] = 1;
        part.is_all_local = found->local_preferred = true;
      } else {
        found->spill_active = true;
      }
    }
    const double total = sumOf(shares);
    const double lacking = total * rules.probe_millionths / kMillion - (total - shares[0]);
    if (remote_hosts > 0 && rules.probe_millionths > 0 && lacking > 0) {
      const double taken = std::min(lacking, shares[0]);
      shares[0] -= taken;
      for (size_t i = 1; i < count; ++i) shares[i] += taken * host_counts[i] / remote_hosts;
      found->probe_active = true;
      part.is_all_local = false;
    }
  }
  part.shares.clear();
  for (size_t i = 0; i < count; ++i) part.shares[hosts.localities[i].where] = shares[i];
}

}  // namespace fairlead::worker
