#include "upstream/aggregate.h"

#include <algorithm>

#include "upstream/worker_clusters.h"

namespace fairlead::upstream {

// One that is an aggregate itself has no hosts, as in the real server.
void Aggregate::gather(std::vector<Member>* members) const {
  for (const NameIds::Ref& name : cluster_.members()) {
    if (all_.cluster(name.id())) members->push_back({name.id(), all_.sharedHosts(name.id())});
  }
}

void Aggregate::link() {
  members_.swap(now_);
  priorities_.clear();
  shares_.clear();
  for (size_t i = 0; i < members_.size(); ++i) {
    const HostSet* const hosts = members_[i].hosts.get();
    for (size_t k = 0; hosts && k < hosts->priorities().size(); ++k) {
      priorities_.push_back({i, k});
      shares_.push_back(hosts->shareOf(k, cluster_.hostSetRules().panic_threshold_pct));
    }
  }
  if (!shares_.empty()) spreadLoads(&shares_);
}

std::optional<size_t> Aggregate::priorityOf(const Host* host) const {
  for (size_t i = 0; i < priorities_.size(); ++i) {
    const Priority& one = priorities_[i];
    const HostList& all = members_[one.member].hosts->priorities()[one.of_member].all;
    if (std::find(all.begin(), all.end(), host) != all.end()) return i;
  }
  return std::nullopt;
}

size_t Aggregate::chooseFrom(const PriorityLoads* loads, bool* is_healthy) {
  uint64_t at = random_.below(100);
  for (const bool healthy : {true, false}) {
    for (size_t i = 0; i < shares_.size(); ++i) {
      uint32_t share = healthy ? shares_[i].healthy_load : shares_[i].degraded_load;
      if (loads) share = (healthy ? loads->healthy : loads->degraded)[i];
      *is_healthy = healthy;
      if (at < share) return i;
      at -= share;
    }
  }
  *is_healthy = true;
  return 0;
}

Aggregate::Place Aggregate::choose(RetryHosts* retry) {
  now_.clear();
  gather(&now_);
  if (now_ != members_) link();
  if (priorities_.empty()) return {};
  const auto find = [this](const RetryHosts::Tried& tried) { return priorityOf(tried.host); };
  const PriorityLoads* const loads = retry ? retry->loads(shares_, find) : nullptr;
  bool is_healthy = true;
  const Priority& priority = priorities_[chooseFrom(loads, &is_healthy)];
  const Member& member = members_[priority.member];
  const size_t count = member.hosts->priorities().size();
  loads_.healthy.assign(count, 0);
  loads_.degraded.assign(count, 0);
  (is_healthy ? loads_.healthy : loads_.degraded)[priority.of_member] = 100;
  return {all_.find(member.id), &loads_};
}

}  // namespace fairlead::upstream
