#include "upstream/aggregate.h"

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

size_t Aggregate::chooseFrom(bool* is_healthy) {
  uint64_t at = random_.below(100);
  for (const bool healthy : {true, false}) {
    for (size_t i = 0; i < shares_.size(); ++i) {
      const uint32_t share = healthy ? shares_[i].healthy_load : shares_[i].degraded_load;
      *is_healthy = healthy;
      if (at < share) return i;
      at -= share;
    }
  }
  *is_healthy = true;
  return 0;
}

Aggregate::Place Aggregate::choose() {
  now_.clear();
  gather(&now_);
  if (now_ != members_) link();
  if (priorities_.empty()) return {};
  bool is_healthy = true;
  const Priority& priority = priorities_[chooseFrom(&is_healthy)];
  const Member& member = members_[priority.member];
  const size_t count = member.hosts->priorities().size();
  loads_.healthy.assign(count, 0);
  loads_.degraded.assign(count, 0);
  (is_healthy ? loads_.healthy : loads_.degraded)[priority.of_member] = 100;
  return {all_.find(member.id), &loads_};
}

}  // namespace fairlead::upstream
