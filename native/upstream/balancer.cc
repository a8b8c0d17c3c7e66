#include "upstream/balancer.h"

#include <cmath>

#include "upstream/slow_start.h"

namespace fairlead::upstream {

using Kind = plan::Cluster::Balancer;

void Balancer::setHosts(const HostSet& hosts, const HostSet* local) {
  hosts_ = &hosts;
  priorities_.clear();
  priorities_.resize(hosts.priorities().size());
  for (size_t i = 0; i < priorities_.size(); ++i) prepare(priorities_[i], hosts.priorities()[i]);
  setLocalHosts(local);
}

void Balancer::setLocalHosts(const HostSet* local) {
  zones_ = settings_.zones && hosts_ && local ? ZoneRouting(*settings_.zones, *hosts_, *local)
                                              : ZoneRouting();
  plain_ = nullptr;
  if (!hosts_ || priorities_.size() != 1 || settings_.goesByHash()) return;
  const PriorityHosts& only = hosts_->priorities()[0];
  const bool is_plain = !only.panic && only.healthy_load == 100 && !only.healthy.empty() &&
                        !settings_.weighs_localities && !settings_.goes_by_load &&
                        !zones_.isActive();
  if (is_plain) plain_ = &priorities_[0].healthy;
}

void Balancer::prepare(PriorityState& state, const PriorityHosts& hosts) {
  state.all.hosts = &hosts.all;
  state.healthy.hosts = &hosts.healthy;
  state.degraded.hosts = &hosts.degraded;
  prepare(state.healthy_localities, hosts, &LocalityHosts::healthy, &LocalityHosts::healthy_weight);
  prepare(state.degraded_localities, hosts, &LocalityHosts::degraded,
          &LocalityHosts::degraded_weight);
  if (settings_.goes_by_load) {
    prepare(state.all_localities, hosts, &LocalityHosts::all, &LocalityHosts::healthy_weight);
  }
}

void Balancer::prepare(LocalityState& state, const PriorityHosts& hosts,
                       HostList LocalityHosts::* list, double LocalityHosts::* weight) {
  const auto count = static_cast<uint32_t>(hosts.localities.size());
  state.lists.resize(count);
  for (uint32_t i = 0; i < count; ++i) state.lists[i].hosts = &(hosts.localities[i].*list);
  if (!settings_.weighs_localities) return;
  state.schedule.begin(count, random_, [&](uint32_t i) { return hosts.localities[i].*weight; });
}

Balancer::Source Balancer::chooseSource(const PriorityLoads* loads) {
  uint64_t at = random_.below(100);
  for (const bool is_healthy : {true, false}) {
    for (size_t i = 0; i < priorities_.size(); ++i) {
      const PriorityHosts& priority = hosts_->priorities()[i];
      uint64_t share = is_healthy ? priority.healthy_load : priority.degraded_load;
      if (loads) share = (is_healthy ? loads->healthy : loads->degraded)[i];
      if (at < share) return {i, is_healthy};
      at -= share;
    }
  }
  return {};
}

Choice Balancer::choose(const PickContext& context) {
  if (!hosts_) return {};
  if (settings_.goesByHash()) return chooseByHash(context);
  const Source source = chooseSource(context.loads);
  if (settings_.goes_by_load && hosts_->shares()) return chooseByLoad(source);
  const PriorityHosts& hosts = hosts_->priorities()[source.priority];
  PriorityState& state = priorities_[source.priority];
  Choice choice;
  if (hosts.panic) {
    choice.panicked = true;
    if (!settings_.fails_in_panic) choice.host = pick(state.all);
    return choice;
  }
  LocalityState& localities =
      source.is_healthy ? state.healthy_localities : state.degraded_localities;
  ListState* list = nullptr;
  if (settings_.weighs_localities) {
    list = pickByWeight(
        localities, hosts,
        source.is_healthy ? &LocalityHosts::healthy_weight : &LocalityHosts::degraded_weight);
  }
  if (!list && routesByZone(source.priority)) {
    if (zones_.isLocalClusterInPanic()) {
      choice.local_cluster_panics = true;
      if (settings_.fails_in_panic) return choice;
    } else {
      list = pickByZone(localities, &choice);
    }
  }
  if (!list) list = source.is_healthy ? &state.healthy : &state.degraded;
  choice.host = pick(*list);
  return choice;
}

// A locality of which nobody is left since the shares were made gives its requests to the first
// that has somebody.
Choice Balancer::chooseByLoad(const Source& source) {
  using From = LocalityShares::Source;
  using Verdict = ZoneRouting::Verdict;
  const PriorityHosts& hosts = hosts_->priorities()[source.priority];
  PriorityState& state = priorities_[source.priority];
  const From from = hosts.panic ? From::All : source.is_healthy ? From::Healthy : From::Degraded;
  LocalityState& localities = from == From::All       ? state.all_localities
                              : from == From::Healthy ? state.healthy_localities
                                                      : state.degraded_localities;
  Choice choice{.panicked = hosts.panic};
  if (localities.lists.empty()) return choice;
  size_t at = hosts_->shares()->draw(source.priority, from, random_);
  for (size_t i = 0; localities.lists[at].hosts->empty(); ++i) {
    if (i == localities.lists.size()) return choice;
    at = i;
  }
  if (!hosts.panic && hosts.has_local) {
    choice.zone = at != 0                                               ? Verdict::CrossZone
                  : hosts_->shares()->isAllLocal(source.priority, from) ? Verdict::AllDirectly
                                                                        : Verdict::Sampled;
  }
  choice.host = pick(localities.lists[at]);
  return choice;
}

// Only healthy hosts have hashes, or all in panic; a request without one has any.
Choice Balancer::chooseByHash(const PickContext& context) {
  const uint64_t hash = context.hash ? *context.hash : random_.next();
  uint64_t at = hash % 100;
  size_t priority = 0;
  for (const bool is_healthy : {true, false}) {
    for (size_t i = 0; i < priorities_.size(); ++i) {
      const PriorityHosts& hosts = hosts_->priorities()[i];
      const uint32_t share = is_healthy ? hosts.healthy_load : hosts.degraded_load;
      if (at < share) {
        priority = i;
        at = UINT64_MAX;
        break;
      }
      at -= share;
    }
    if (at == UINT64_MAX) break;
  }
  const PriorityHosts& hosts = hosts_->priorities()[priority];
  Choice choice{.panicked = hosts.panic};
  if (hosts.table) {
    choice.host = hosts.table->find({hash, context.attempt, context.active_requests});
  }
  return choice;
}

Balancer::ListState* Balancer::pickByWeight(LocalityState& localities, const PriorityHosts& hosts,
                                            double LocalityHosts::* weight) {
  if (localities.schedule.empty()) return nullptr;
  const uint32_t at =
      localities.schedule.next([&](uint32_t i) { return hosts.localities[i].*weight; });
  return &localities.lists[at];
}

bool Balancer::routesByZone(size_t priority) const {
  if (priority != 0 || !zones_.isActive()) return false;
  return random_.draws(settings_.zones->enabled_millionths.value());
}

Balancer::ListState* Balancer::pickByZone(LocalityState& localities, Choice* choice) {
  const ZoneRouting::Choice found = zones_.choose(random_);
  choice->zone = found.verdict;
  return &localities.lists[found.locality];
}

// Workers start at different places, so that together they do not favour the first host.
void Balancer::begin(ListState& state) {
  const HostList& hosts = *state.hosts;
  state.is_begun = true;
  state.position = random_.next() >> 8;
  state.is_scheduled = settings_.kind != Kind::Random &&
                       (hosts.isWeighted() || isAnySlow(hosts, settings_.slow_start));
  if (!state.is_scheduled) return;
  state.schedule.begin(static_cast<uint32_t>(hosts.size()), random_,
                       [&](uint32_t i) { return scheduleWeight(*hosts[i]); });
}

double Balancer::scheduleWeight(const Host& host) const {
  constexpr uint64_t kOne = 1'000'000;
  double weight = host.weight() == 0 ? 1 : host.weight();
  if (settings_.kind == Kind::LeastRequest) {
    const uint64_t bias = settings_.request_bias_millionths.value();
    const auto active = static_cast<double>(activeOf(host) + 1);
    if (bias == kOne) {
      weight /= active;
    } else if (bias != 0) {
      weight /= std::pow(active, static_cast<double>(bias) / kOne);
    }
  }
  return settings_.slow_start ? weight * slowStartShare(host, *settings_.slow_start) : weight;
}

Host* Balancer::pickOfMany(ListState& state) {
  const HostList& hosts = *state.hosts;
  if (hosts.empty()) return nullptr;
  if (settings_.kind == Kind::Random) return hosts[random_.below(hosts.size())];
  if (!state.is_begun) begin(state);
  // Different weights count before the fewest requests do, as in the real server.
  if (settings_.kind == Kind::LeastRequest && !state.is_scheduled) return pickLeastLoaded(hosts);
  if (!state.is_scheduled) return hosts[state.position++ % hosts.size()];
  return hosts[state.schedule.next([&](uint32_t i) { return scheduleWeight(*hosts[i]); })];
}

// Of those that have as few, a full scan takes any.
Host* Balancer::pickLeastLoaded(const HostList& hosts) {
  Host* best = nullptr;
  uint64_t fewest = 0;
  uint64_t as_few = 0;
  const size_t count = settings_.full_scan ? hosts.size() : settings_.choices;
  for (size_t i = 0; i < count; ++i) {
    Host* host = settings_.full_scan ? hosts[i] : hosts[random_.below(hosts.size())];
    const uint64_t active = activeOf(*host);
    if (!best || active < fewest) {
      best = host;
      fewest = active;
      as_few = 1;
    } else if (settings_.full_scan && active == fewest && random_.below(++as_few) == 0) {
      best = host;
    }
  }
  return best;
}

}  // namespace fairlead::upstream
