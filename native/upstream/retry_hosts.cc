#include "upstream/retry_hosts.h"

#include <algorithm>

namespace fairlead::upstream {

void RetryHosts::begin(const plan::RetryHosts* rules) {
  rules_ = rules;
  attempted_.clear();
  tried_.clear();
  avoided_priorities_.clear();
  has_loads_ = false;
}

void RetryHosts::onAttempted(const Host& host) {
  if (!rules_) return;
  if (rules_->avoid_previous) attempted_.push_back(&host);
  if (rules_->priorities_every > 0) tried_.push_back({&host, host.priority()});
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

const PriorityLoads* RetryHosts::loads(const HostSet& hosts) {
  const size_t count = hosts.priorities().size();
  if (!isToReckon(count)) return current();
  std::vector<PriorityShare> priorities(count);
  for (size_t i = 0; i < count; ++i) priorities[i] = hosts.shareOf(i, 0);
  return loads(priorities, [count](const Tried& tried) {
    return tried.priority < count ? std::optional<size_t>(tried.priority) : std::nullopt;
  });
}

// The loads are reckoned anew whenever so many attempts more have been made.
bool RetryHosts::isToReckon(size_t priorities) const {
  const uint32_t every = rules_ ? rules_->priorities_every : 0;
  if (every == 0 || tried_.size() < every) return false;
  return tried_.size() % every == 0 || avoided_priorities_.size() != priorities;
}

const PriorityLoads* RetryHosts::current() const {
  const uint32_t every = rules_ ? rules_->priorities_every : 0;
  return has_loads_ && tried_.size() >= every ? &loads_ : nullptr;
}

const PriorityLoads* RetryHosts::reckon(const std::vector<PriorityShare>& priorities) {
  const auto spread = [&] {
    return spreadOver(priorities, avoided_priorities_, &loads_.healthy, &loads_.degraded);
  };
  has_loads_ = spread();
  if (!has_loads_) {
    // None is left: all of them come into question again.
    tried_.clear();
    avoided_priorities_.assign(priorities.size(), false);
    has_loads_ = spread();
  }
  return has_loads_ ? &loads_ : nullptr;
}

}  // namespace fairlead::upstream
