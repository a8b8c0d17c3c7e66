#include "upstream/host_set.h"

#include <algorithm>

namespace fairlead::upstream {

HostSet::HostSet(std::vector<std::shared_ptr<Host>> hosts, std::shared_ptr<const void> settings,
                 uint32_t panic_threshold_pct, uint32_t overprovisioning_pct)
    : hosts_(std::move(hosts)),
      settings_(std::move(settings)),
      overprovisioning_pct_(overprovisioning_pct) {
  priorities_.resize(1);
  for (const std::shared_ptr<Host>& host : hosts_) {
    if (host->priority() >= priorities_.size()) priorities_.resize(host->priority() + 1);
    PriorityHosts& priority = priorities_[host->priority()];
    priority.all.push_back(host.get());
    if (host->isHealthy()) {
      priority.healthy.push_back(host.get());
      ++healthy_count_;
    } else if (host->isDegraded()) {
      priority.degraded.push_back(host.get());
      ++degraded_count_;
    } else if (host->settings().health == plan::Host::Health::Draining) {
      ++excluded_count_;
    }
    max_weight_ = std::max(max_weight_, host->weight());
  }
  spreadLoad(panic_threshold_pct);
}

uint64_t HostSet::prioritiesOtherThan(const HostSet& before) const {
  const HostList none;
  const auto hostsOf = [&none](const HostSet& set, size_t i) -> const HostList& {
    return i < set.priorities_.size() ? set.priorities_[i].all : none;
  };
  uint64_t count = 0;
  for (size_t i = 0; i < std::max(priorities_.size(), before.priorities_.size()); ++i) {
    if (hostsOf(*this, i) != hostsOf(before, i)) ++count;
  }
  return count;
}

// Healthy hosts of the first priorities come first, then the degraded ones in the same order; what
// rounding loses goes to the first priority that takes anything.
void HostSet::spreadLoad(uint32_t panic_threshold_pct) {
  std::vector<uint32_t> healthy(priorities_.size());
  std::vector<uint32_t> degraded(priorities_.size());
  uint32_t total = 0;
  for (size_t i = 0; i < priorities_.size(); ++i) {
    const size_t count = priorities_[i].all.size();
    if (count == 0) continue;
    const auto share = [&](size_t part) {
      return static_cast<uint32_t>(std::min<size_t>(100, overprovisioning_pct_ * part / count));
    };
    healthy[i] = share(priorities_[i].healthy.size());
    degraded[i] = share(priorities_[i].degraded.size());
    total += healthy[i] + degraded[i];
  }
  const uint32_t available = std::min<uint32_t>(total, 100);
  bool all_panic = true;
  for (PriorityHosts& priority : priorities_) {
    const size_t usable = priority.healthy.size() + priority.degraded.size();
    const double usable_pct =
        priority.all.empty() ? 0 : 100.0 * static_cast<double>(usable) / priority.all.size();
    priority.panic = available < 100 && usable_pct < panic_threshold_pct;
    all_panic = all_panic && priority.panic;
  }
  if (available == 0) {
    priorities_[0].healthy_load = 100;
  } else {
    uint32_t left = 100;
    for (size_t i = 0; i < priorities_.size(); ++i) {
      priorities_[i].healthy_load = std::min(left, healthy[i] * 100 / available);
      left -= priorities_[i].healthy_load;
    }
    for (size_t i = 0; i < priorities_.size(); ++i) {
      priorities_[i].degraded_load = std::min(left, degraded[i] * 100 / available);
      left -= priorities_[i].degraded_load;
    }
    for (size_t i = 0; left > 0 && i < priorities_.size(); ++i) {
      if (healthy[i] > 0) {
        priorities_[i].healthy_load += left;
        left = 0;
      } else if (degraded[i] > 0) {
        priorities_[i].degraded_load += left;
        left = 0;
      }
    }
  }
  if (all_panic) spreadLoadInPanic();
}

bool HostSet::spreadOver(const std::vector<bool>& avoided, std::vector<uint32_t>* healthy,
                         std::vector<uint32_t>* degraded) const {
  const size_t count = priorities_.size();
  std::vector<uint32_t> shares[2];
  uint32_t total = 0;
  for (size_t i = 0; i < count; ++i) {
    const PriorityHosts& priority = priorities_[i];
    const HostList* const lists[] = {&priority.healthy, &priority.degraded};
    for (int kind = 0; kind < 2; ++kind) {
      const bool is_out = avoided[i] || priority.all.empty();
      const size_t share =
          is_out ? 0 : overprovisioning_pct_ * lists[kind]->size() / priority.all.size();
      shares[kind].push_back(static_cast<uint32_t>(std::min<size_t>(100, share)));
      total += shares[kind].back();
    }
  }
  if (total == 0) return false;
  healthy->assign(count, 0);
  degraded->assign(count, 0);
  const uint32_t available = std::min<uint32_t>(total, 100);
  uint32_t left = 100;
  // Once more for what rounding lost.
  while (left > 0) {
    for (int kind = 0; kind < 2; ++kind) {
      std::vector<uint32_t>& loads = kind == 0 ? *healthy : *degraded;
      for (size_t i = 0; i < count; ++i) {
        const uint32_t part = std::min(left, shares[kind][i] * 100 / available);
        loads[i] += part;
        left -= part;
      }
    }
  }
  return true;
}

// Everywhere too few are healthy: each priority gets traffic by its number of hosts.
void HostSet::spreadLoadInPanic() {
  size_t total = 0;
  for (const PriorityHosts& priority : priorities_) total += priority.all.size();
  uint32_t left = 100;
  PriorityHosts* first = nullptr;
  for (PriorityHosts& priority : priorities_) {
    priority.degraded_load = 0;
    priority.healthy_load =
        total == 0 ? 0 : static_cast<uint32_t>(100 * priority.all.size() / total);
    left -= priority.healthy_load;
    if (!first && !priority.all.empty()) first = &priority;
  }
  (first ? first : &priorities_[0])->healthy_load += left;
}

}  // namespace fairlead::upstream
