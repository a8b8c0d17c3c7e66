#include "upstream/host_set.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace fairlead::upstream {

namespace {

// What remains of a locality's weight while only so many of its hosts can be used.
double effectiveWeight(uint32_t weight, size_t usable, size_t counted, uint32_t overprovisioning) {
  if (counted == 0) return 0;
  const double share = static_cast<double>(usable) / static_cast<double>(counted);
  return weight * std::min(1.0, overprovisioning / 100.0 * share);
}

// The weight of a locality of which the set has only a part.
uint32_t partOfWeight(const LocalityHosts& part, const PriorityHosts& whole) {
  for (const LocalityHosts& locality : whole.localities) {
    if (locality.where != part.where) continue;
    const auto share =
        static_cast<float>(part.all.size()) / static_cast<float>(locality.all.size());
    return static_cast<uint32_t>(std::round(static_cast<float>(locality.weight) * share));
  }
  return part.weight;
}

// In whatever order.
bool haveSameHosts(const HostList& a, const HostList& b) {
  if (a == b) return true;
  if (a.size() != b.size()) return false;
  std::vector<const Host*> ours(a.begin(), a.end());
  std::vector<const Host*> theirs(b.begin(), b.end());
  std::ranges::sort(ours);
  std::ranges::sort(theirs);
  return ours == theirs;
}

}  // namespace

Locality Locality::of(const Host& host) {
  const plan::Host& settings = host.settings();
  return {settings.region, settings.zone, settings.sub_zone};
}

bool PriorityHosts::isBelow(uint32_t panic_threshold_pct) const {
  const size_t counted = countedHosts();
  const size_t usable = healthy.size() + degraded.size();
  const double usable_pct =
      counted == 0 ? 0 : 100.0 * static_cast<double>(usable) / static_cast<double>(counted);
  return usable_pct < panic_threshold_pct;
}

HostSet::HostSet(Hosts hosts, std::shared_ptr<const void> settings, HostSetRules rules,
                 const HostSet* whole)
    : hosts_(std::move(hosts)), settings_(std::move(settings)), rules_(std::move(rules)) {
  priorities_.resize(1);
  for (const std::shared_ptr<Host>& host : hosts_) place(host.get());
  if (rules_.groups_localities) {
    for (size_t i = 0; i < priorities_.size(); ++i) {
      groupLocalities(priorities_[i], whole ? &whole->priorities()[i] : nullptr);
    }
  }
  spreadLoad();
}

void HostSet::place(Host* host) {
  if (host->priority() >= priorities_.size()) priorities_.resize(host->priority() + 1);
  PriorityHosts& priority = priorities_[host->priority()];
  priority.all.add(host);
  if (host->isHealthy()) {
    priority.healthy.add(host);
    ++healthy_count_;
  } else if (host->isDegraded()) {
    priority.degraded.add(host);
    ++degraded_count_;
  }
  if (host->isExcluded()) {
    ++priority.excluded_count;
    ++excluded_count_;
  }
  max_weight_ = std::max(max_weight_, host->weight());
}

void HostSet::groupLocalities(PriorityHosts& priority, const PriorityHosts* whole) const {
  std::map<Locality, std::vector<Host*>> groups;
  for (Host* host : priority.all) groups[Locality::of(*host)].push_back(host);
  const auto addGroup = [&](const Locality& where, const std::vector<Host*>& hosts) {
    LocalityHosts& locality = priority.localities.emplace_back();
    locality.where = where;
    size_t counted = 0;
    for (Host* host : hosts) {
      locality.all.add(host);
      if (host->isHealthy()) locality.healthy.add(host);
      if (host->isDegraded()) locality.degraded.add(host);
      if (!host->isExcluded()) ++counted;
    }
    locality.weight = hosts[0]->settings().locality_weight;
    if (whole) locality.weight = partOfWeight(locality, *whole);
    const auto weight = [&](const HostList& usable) {
      return effectiveWeight(locality.weight, usable.size(), counted, rules_.overprovisioning_pct);
    };
    locality.healthy_weight = weight(locality.healthy);
    locality.degraded_weight = weight(locality.degraded);
  };
  const auto local = groups.find(rules_.here);
  priority.has_local = local != groups.end();
  if (priority.has_local) addGroup(local->first, local->second);
  for (auto group = groups.begin(); group != groups.end(); ++group) {
    if (group != local) addGroup(group->first, group->second);
  }
}

std::vector<size_t> HostSet::prioritiesOtherThan(const HostSet& before) const {
  const HostList none;
  const auto hostsOf = [&none](const HostSet& set, size_t i) -> const HostList& {
    return i < set.priorities_.size() ? set.priorities_[i].all : none;
  };
  std::vector<size_t> others;
  for (size_t i = 0; i < std::max(priorities_.size(), before.priorities_.size()); ++i) {
    if (!haveSameHosts(hostsOf(*this, i), hostsOf(before, i))) others.push_back(i);
  }
  return others;
}

HostSet::Availability HostSet::availabilityOf(const PriorityHosts& priority) const {
  uint64_t total = priority.countedHosts();
  uint64_t healthy = priority.healthy.size();
  uint64_t degraded = priority.degraded.size();
  if (total > 0 && rules_.weighs_health) {
    total = 0;
    for (const Host* host : priority.all) total += host->isExcluded() ? 0 : host->weight();
    healthy = priority.healthy.sumOfWeights();
    degraded = priority.degraded.sumOfWeights();
  }
  if (total == 0) return {};
  const auto share = [&](uint64_t part) {
    return static_cast<uint32_t>(
        std::min<uint64_t>(100, rules_.overprovisioning_pct * part / total));
  };
  return {share(healthy), share(degraded)};
}

void HostSet::spreadLoad() {
  std::vector<PriorityShare> shares;
  for (size_t i = 0; i < priorities_.size(); ++i) {
    shares.push_back(shareOf(i, rules_.panic_threshold_pct));
  }
  spreadLoads(&shares);
  for (size_t i = 0; i < priorities_.size(); ++i) {
    priorities_[i].healthy_load = shares[i].healthy_load;
    priorities_[i].degraded_load = shares[i].degraded_load;
    priorities_[i].panic = shares[i].panic;
  }
}

PriorityShare HostSet::shareOf(size_t priority, uint32_t panic_threshold_pct) const {
  const PriorityHosts& hosts = priorities_[priority];
  const Availability part = availabilityOf(hosts);
  return {.healthy = part.healthy,
          .degraded = part.degraded,
          .is_below = hosts.isBelow(panic_threshold_pct),
          .hosts = hosts.all.size()};
}

namespace {

void spreadInPanic(std::vector<PriorityShare>& priorities) {
  size_t total = 0;
  for (const PriorityShare& priority : priorities) total += priority.hosts;
  uint32_t left = 100;
  PriorityShare* first = nullptr;
  for (PriorityShare& priority : priorities) {
    priority.degraded_load = 0;
    priority.healthy_load = total == 0 ? 0 : static_cast<uint32_t>(100 * priority.hosts / total);
    left -= priority.healthy_load;
    if (!first && priority.hosts > 0) first = &priority;
  }
  (first ? *first : priorities[0]).healthy_load += left;
}

}  // namespace

void spreadLoads(std::vector<PriorityShare>* all) {
  std::vector<PriorityShare>& priorities = *all;
  uint32_t total = 0;
  for (const PriorityShare& priority : priorities) total += priority.healthy + priority.degraded;
  const uint32_t available = std::min<uint32_t>(total, 100);
  bool all_panic = true;
  for (PriorityShare& priority : priorities) {
    priority.panic = available < 100 && priority.is_below;
    all_panic = all_panic && priority.panic;
  }
  if (available == 0) {
    priorities[0].healthy_load = 100;
  } else {
    uint32_t left = 100;
    uint32_t* first_healthy = nullptr;
    uint32_t* first_degraded = nullptr;
    const auto give = [&left, available](uint32_t part, uint32_t* load, uint32_t** first) {
      if (part > 0 && !*first) *first = load;
      *load = std::min(left, part * 100 / available);
      left -= *load;
    };
    for (PriorityShare& one : priorities) give(one.healthy, &one.healthy_load, &first_healthy);
    for (PriorityShare& one : priorities) give(one.degraded, &one.degraded_load, &first_degraded);
    *(first_healthy ? first_healthy : first_degraded) += left;
  }
  if (all_panic) spreadInPanic(priorities);
}

bool spreadOver(const std::vector<PriorityShare>& priorities, const std::vector<bool>& avoided,
                std::vector<uint32_t>* healthy, std::vector<uint32_t>* degraded) {
  const size_t count = priorities.size();
  std::vector<PriorityShare> parts(count);
  uint32_t total = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!avoided[i]) parts[i] = priorities[i];
    total += parts[i].healthy + parts[i].degraded;
  }
  if (total == 0) return false;
  healthy->assign(count, 0);
  degraded->assign(count, 0);
  const uint32_t available = std::min<uint32_t>(total, 100);
  uint32_t left = 100;
  const auto give = [&left, available](uint32_t part, uint32_t* load) {
    const uint32_t share = std::min(left, part * 100 / available);
    *load += share;
    left -= share;
  };
  // Once more for what rounding lost.
  while (left > 0) {
    for (size_t i = 0; i < count; ++i) give(parts[i].healthy, &(*healthy)[i]);
    for (size_t i = 0; i < count; ++i) give(parts[i].degraded, &(*degraded)[i]);
  }
  return true;
}

}  // namespace fairlead::upstream
