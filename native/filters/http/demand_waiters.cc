#include "filters/http/demand_waiters.h"

namespace fairlead::filters {

bool DemandWaiters::Waiting::add(unsigned worker, const DemandKey& key, OnDemandWaiter* waiter) {
  List<OnDemandWaiter>& waiters = by_worker_[worker][key];
  const bool is_first = waiters.empty();
  waiters.pushBack(waiter);
  return is_first;
}

// One that goes on may end others, or wait again.
void DemandWaiters::Waiting::onMet(unsigned worker, const DemandKey& key) {
  auto& waiting = by_worker_[worker];
  const auto found = waiting.find(key);
  if (found == waiting.end()) return;
  List<OnDemandWaiter> met;
  found->second.moveAllTo(met);
  waiting.erase(found);
  while (OnDemandWaiter* const waiter = met.popFront()) waiter->onMet();
}

}  // namespace fairlead::filters
