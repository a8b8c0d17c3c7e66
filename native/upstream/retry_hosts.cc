#include "upstream/retry_hosts.h"

#include <algorithm>

namespace fairlead::upstream {

void RetryHosts::begin(const plan::RetryHosts* rules) {
  rules_ = rules;
  attempted_.clear();
  attempted_priorities_.clear();
  avoided_priorities_.clear();
  has_loads_ = false;
}

void RetryHosts::onAttempted(const Host& host) {
  if (!rules_) return;
  if (rules_->avoid_previous) attempted_.push_back(&host);
  if (rules_->priorities_every > 0) attempted_priorities_.push_back(host.priority());
}

namespace {

bool hasAll(const Host& host, const plan::HostLabels& wanted) {
  const std::vector<std::string>& labels = host.settings().labels;
  return std::all_of(wanted.labels.begin(), wanted.labels.end(), [&](const std::string& label) {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
  });
}

}  // namespace

bool RetryHosts::accepts(const Host& host) const {
  if (!rules_) return true;
  if (rules_->avoid_canary && host.settings().canary) return false;
  if (std::find(attempted_.begin(), attempted_.end(), &host) != attempted_.end()) return false;
  for (const plan::HostLabels& labelled : rules_->avoid_labelled) {
    if (hasAll(host, labelled)) return false;
  }
  return true;
}

// The loads are reckoned anew whenever so many attempts more have been made.
const PriorityLoads* RetryHosts::loads(const HostSet& hosts) {
  const uint32_t every = rules_ ? rules_->priorities_every : 0;
  if (every == 0 || attempted_priorities_.size() < every) return nullptr;
  const size_t count = hosts.priorities().size();
  if (attempted_priorities_.size() % every == 0 || loads_.healthy.size() != count) {
    avoidPriorities(hosts);
  }
  return has_loads_ ? &loads_ : nullptr;
}

void RetryHosts::avoidPriorities(const HostSet& hosts) {
  const size_t count = hosts.priorities().size();
  avoided_priorities_.assign(count, false);
  for (const uint32_t priority : attempted_priorities_) {
    if (priority < count) avoided_priorities_[priority] = true;
  }
  has_loads_ = hosts.spreadOver(avoided_priorities_, &loads_.healthy, &loads_.degraded);
  if (has_loads_) return;
  // None is left: all of them come into question again.
  attempted_priorities_.clear();
  avoided_priorities_.assign(count, false);
  has_loads_ = hosts.spreadOver(avoided_priorities_, &loads_.healthy, &loads_.degraded);
}

}  // namespace fairlead::upstream
