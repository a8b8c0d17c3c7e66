// Where a request that is tried again would rather go: which hosts it avoids as long as there are
// others, as its policy says. Part of a request's retries, and used again; the worker's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.gen.h"
#include "upstream/host_set.h"

namespace fairlead::upstream {

// Percent of all requests, by priority.
struct PriorityLoads {
  std::vector<uint32_t> healthy;
  std::vector<uint32_t> degraded;
};

class RetryHosts {
 public:
  // Compared and never followed: it may be gone.
  struct Tried {
    const Host* host;
    uint32_t priority;
  };

  // `rules` must outlive its use; null: every host will do.
  void begin(const plan::RetryHosts* rules);
  void onAttempted(const Host& host);

  // How many hosts the balancer is asked for; the last is taken as it is.
  uint32_t choices() const { return rules_ ? 1 + rules_->more_choices : 1; }
  bool accepts(const Host& host) const;
  // In place of the set's own loads; null: those.
  const PriorityLoads* loads(const HostSet& hosts);
  // The same of priorities that are not one set's. `find` knows which of them a host that was tried
  // is of: it has an index, or none.
  template <typename Find>
  const PriorityLoads* loads(const std::vector<PriorityShare>& priorities, Find find) {
    if (!isToReckon(priorities.size())) return current();
    avoided_priorities_.assign(priorities.size(), false);
    for (const Tried& tried : tried_) {
      const std::optional<size_t> at = find(tried);
      if (at) avoided_priorities_[*at] = true;
    }
    return reckon(priorities);
  }

 private:
  bool isToReckon(size_t priorities) const;
  const PriorityLoads* reckon(const std::vector<PriorityShare>& priorities);
  const PriorityLoads* current() const;

  const plan::RetryHosts* rules_ = nullptr;
  // Which hosts are avoided, and those whose priorities are.
  std::vector<const Host*> attempted_;
  std::vector<Tried> tried_;
  std::vector<bool> avoided_priorities_;
  PriorityLoads loads_;
  bool has_loads_ = false;
};

}  // namespace fairlead::upstream
