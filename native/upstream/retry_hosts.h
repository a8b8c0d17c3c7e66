// Where a request that is tried again would rather go: which hosts it avoids as long as there are
// others, as its policy says. Part of a request's retries, and used again; the worker's thread.
#pragma once

#include <cstdint>
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
  // `rules` must outlive its use; null: every host will do.
  void begin(const plan::RetryHosts* rules);
  void onAttempted(const Host& host);

  // How many hosts the balancer is asked for; the last is taken as it is.
  uint32_t choices() const { return rules_ ? 1 + rules_->more_choices : 1; }
  bool accepts(const Host& host) const;
  // In place of the set's own loads; null: those.
  const PriorityLoads* loads(const HostSet& hosts);

 private:
  void avoidPriorities(const HostSet& hosts);

  const plan::RetryHosts* rules_ = nullptr;
  // Compared and never followed: they may be gone.
  std::vector<const Host*> attempted_;
  std::vector<uint32_t> attempted_priorities_;
  std::vector<bool> avoided_priorities_;
  PriorityLoads loads_;
  bool has_loads_ = false;
};

}  // namespace fairlead::upstream
