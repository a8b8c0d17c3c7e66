#include "filters/http/demand_waiters.h"

#include <algorithm>

namespace fairlead::filters {

bool DemandWaiters::Waiting::add(unsigned worker, const DemandKey& key, OnDemandWaiter* waiter) {
  auto& [by_key, crowd] = by_worker_[worker];
  // What nobody could be asked for is never met: its waiters have left by and by.
  if (by_key.size() >= crowd) {
    std::erase_if(by_key, [](const auto& one) { return one.second.empty(); });
    crowd = std::max(kCrowd, 2 * by_key.size());
  }
  List<OnDemandWaiter>& waiters = by_key[key];
  const bool is_first = waiters.empty();
  waiters.pushBack(waiter);
  return is_first;
}

// One that goes on may end others, or wait again.
void DemandWaiters::Waiting::onMet(unsigned worker, const DemandKey& key) {
  auto& waiting = by_worker_[worker].by_key;
  const auto found = waiting.find(key);
  if (found == waiting.end()) return;
  List<OnDemandWaiter> met;
  found->second.moveAllTo(met);
  waiting.erase(found);
  while (OnDemandWaiter* const waiter = met.popFront()) waiter->onMet();
}

}  // namespace fairlead::filters
