#include "worker/update_windows.h"

#include <algorithm>

namespace fairlead::worker {

using WindowCounter = stats::ClusterManager::Counter;

bool UpdateWindows::note(const std::string& cluster, uint64_t window_ms,
                         const std::vector<Change>& changes, uint64_t now_ms) {
  std::vector<Priority>& priorities = clusters_[cluster];
  if (priorities.size() < changes.size()) priorities.resize(changes.size());
  bool is_told = true;
  for (size_t i = 0; i < changes.size(); ++i) {
    if (changes[i] == Change::None) continue;
    const bool is_mergeable = changes[i] == Change::Details;
    if (window_ms > 0 && !isTold(&priorities[i], window_ms, is_mergeable, now_ms)) {
      is_told = false;
    } else {
      stats_->shard(0)->add(WindowCounter::ClusterUpdated);
    }
  }
  setTurn(cluster, priorities);
  return is_told;
}

void UpdateWindows::noteWhole(const std::string& cluster, uint64_t window_ms,
                              const std::vector<Change>& changes, uint64_t now_ms) {
  std::vector<Priority>& priorities = clusters_[cluster];
  if (priorities.size() < changes.size()) priorities.resize(changes.size());
  for (size_t i = 0; i < changes.size() && window_ms > 0; ++i) {
    if (changes[i] != Change::None) isTold(&priorities[i], window_ms, false, now_ms);
  }
  stats_->shard(0)->add(WindowCounter::ClusterUpdated);
  setTurn(cluster, priorities);
}

bool UpdateWindows::isTold(Priority* priority, uint64_t window_ms, bool is_mergeable,
                           uint64_t now_ms) {
  const bool is_over = !priority->told_ms || now_ms - *priority->told_ms > window_ms;
  if (is_mergeable && !is_over) {
    if (!priority->due_ms) priority->due_ms = now_ms + window_ms;
    return false;
  }
  if (is_mergeable) stats_->shard(0)->add(WindowCounter::UpdateOutOfMergeWindow);
  if (priority->due_ms) stats_->shard(0)->add(WindowCounter::UpdateMergeCancelled);
  priority->due_ms.reset();
  priority->told_ms = now_ms;
  return true;
}

std::set<std::string> UpdateWindows::run(uint64_t now_ms) {
  std::set<std::string> told;
  while (const std::optional<std::string> name = turns_.take(now_ms)) {
    const auto found = clusters_.find(*name);
    if (found == clusters_.end()) continue;
    for (Priority& priority : found->second) {
      if (!priority.due_ms || *priority.due_ms > now_ms) continue;
      priority.due_ms.reset();
      priority.told_ms = now_ms;
      stats_->shard(0)->add(WindowCounter::ClusterUpdatedViaMerge);
      told.insert(*name);
    }
    setTurn(*name, found->second);
  }
  return told;
}

void UpdateWindows::forget(const std::string& cluster) {
  clusters_.erase(cluster);
  turns_.drop(cluster);
}

void UpdateWindows::setTurn(const std::string& cluster, const std::vector<Priority>& priorities) {
  uint64_t due_ms = UINT64_MAX;
  for (const Priority& priority : priorities) {
    if (priority.due_ms) due_ms = std::min(due_ms, *priority.due_ms);
  }
  if (due_ms == UINT64_MAX) {
    turns_.drop(cluster);
  } else {
    turns_.set(cluster, due_ms);
  }
}

}  // namespace fairlead::worker
