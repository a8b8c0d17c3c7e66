#include "upstream/balancer.h"

namespace fairlead::upstream {

using Kind = plan::Cluster::Balancer;

void Balancer::setHosts(const HostSet& hosts) {
  hosts_ = &hosts;
  priorities_.clear();
  priorities_.resize(hosts.priorities().size());
  for (size_t i = 0; i < priorities_.size(); ++i) {
    const PriorityHosts& from = hosts.priorities()[i];
    prepare(priorities_[i].all, from.all);
    prepare(priorities_[i].healthy, from.healthy);
    prepare(priorities_[i].degraded, from.degraded);
  }
}

void Balancer::prepare(ListState& state, const HostList& hosts) {
  state.hosts = &hosts;
  for (const Host* host : hosts) state.weighted |= host->weight() != hosts[0]->weight();
  // Workers start at different places, so that together they do not favour the first host.
  state.position = random_.next() >> 8;
  if (!state.weighted || settings_.kind == Kind::Random) return;
  for (uint32_t i = 0; i < hosts.size(); ++i) state.schedule.add(i, scheduleWeight(*hosts[i]));
  for (uint64_t turns = random_.below(hosts.size()); turns > 0; --turns) {
    const uint32_t entry = state.schedule.take();
    state.schedule.add(entry, scheduleWeight(*hosts[entry]));
  }
}

double Balancer::scheduleWeight(const Host& host) const {
  const double weight = host.weight() == 0 ? 1 : host.weight();
  if (settings_.kind != Kind::LeastRequest) return weight;
  const uint64_t active = const_cast<Host&>(host).counters(worker_).rq_active.read();
  return weight / static_cast<double>(active + 1);
}

Choice Balancer::choose() {
  if (!hosts_) return {};
  uint64_t at = priorities_.size() == 1 ? 0 : random_.below(100);
  for (size_t i = 0; i < priorities_.size(); ++i) {
    const PriorityHosts& priority = hosts_->priorities()[i];
    PriorityState& state = priorities_[i];
    if (at < priority.healthy_load) {
      if (priority.panic) return {pick(state.all), true};
      // With one priority its degraded hosts share by load too.
      if (priorities_.size() == 1 && priority.degraded_load > 0 &&
          random_.below(100) >= priority.healthy_load) {
        return {pick(state.degraded), false};
      }
      return {pick(state.healthy), false};
    }
    at -= priority.healthy_load;
  }
  for (size_t i = 0; i < priorities_.size(); ++i) {
    const PriorityHosts& priority = hosts_->priorities()[i];
    if (priorities_.size() == 1 || at < priority.degraded_load) {
      if (priority.panic) return {pick(priorities_[i].all), true};
      return {pick(priorities_[i].degraded), false};
    }
    at -= priority.degraded_load;
  }
  return {};
}

Choice Balancer::chooseBy(const PriorityLoads& loads) {
  uint64_t at = random_.below(100);
  for (const bool is_healthy : {true, false}) {
    const std::vector<uint32_t>& shares = is_healthy ? loads.healthy : loads.degraded;
    for (size_t i = 0; i < priorities_.size() && i < shares.size(); ++i) {
      if (at >= shares[i]) {
        at -= shares[i];
        continue;
      }
      PriorityState& state = priorities_[i];
      if (hosts_->priorities()[i].panic) return {pick(state.all), true};
      return {pick(is_healthy ? state.healthy : state.degraded), false};
    }
  }
  return {};
}

Host* Balancer::pick(ListState& state) {
  const HostList& hosts = *state.hosts;
  if (hosts.empty()) return nullptr;
  if (hosts.size() == 1) return hosts[0];
  if (settings_.kind == Kind::Random) return hosts[random_.below(hosts.size())];
  if (settings_.kind == Kind::LeastRequest && (!state.weighted || settings_.full_scan)) {
    return pickLeastLoaded(hosts);
  }
  if (!state.weighted) return hosts[state.position++ % hosts.size()];
  const uint32_t entry = state.schedule.take();
  state.schedule.add(entry, scheduleWeight(*hosts[entry]));
  return hosts[entry];
}

Host* Balancer::pickLeastLoaded(const HostList& hosts) {
  Host* best = nullptr;
  uint64_t fewest = 0;
  const size_t count = settings_.full_scan ? hosts.size() : settings_.choices;
  const size_t start = settings_.full_scan ? random_.below(hosts.size()) : 0;
  for (size_t i = 0; i < count; ++i) {
    Host* host = settings_.full_scan ? hosts[(start + i) % hosts.size()]
                                     : hosts[random_.below(hosts.size())];
    const uint64_t active = host->counters(worker_).rq_active.read();
    if (!best || active < fewest) {
      best = host;
      fewest = active;
    }
  }
  return best;
}

}  // namespace fairlead::upstream
