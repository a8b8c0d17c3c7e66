// The hosts of a cluster at one moment, by priority and health, with the share of traffic that each
// priority gets. Immutable; replaced as a whole.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "upstream/host.h"

namespace fairlead::upstream {

using HostList = std::vector<Host*>;

struct PriorityHosts {
  HostList all;
  HostList healthy;
  HostList degraded;
  // Percent of all requests that go to this priority's healthy and degraded hosts.
  uint32_t healthy_load = 0;
  uint32_t degraded_load = 0;
  // Too few are healthy: requests go to all hosts, healthy or not.
  bool panic = false;
};

class HostSet {
 public:
  // `settings`: what the hosts have from here on, which lives as long as the set.
  // `panic_threshold_pct`: below it a priority panics. `overprovisioning_pct`: 140 means that a
  // priority takes all its traffic while 100/140 of its hosts are healthy.
  HostSet(std::vector<std::shared_ptr<Host>> hosts, std::shared_ptr<const void> settings,
          uint32_t panic_threshold_pct, uint32_t overprovisioning_pct);

  // The same hosts in a cluster that panics at another threshold.
  HostSet(const HostSet& other, uint32_t panic_threshold_pct)
      : HostSet(other.hosts_, other.settings_, panic_threshold_pct, other.overprovisioning_pct_) {}

  const std::vector<std::shared_ptr<Host>>& hosts() const { return hosts_; }
  // Made of the same hosts in the same order.
  bool isOf(const std::vector<std::shared_ptr<Host>>& hosts, uint32_t overprovisioning_pct) const {
    return overprovisioning_pct_ == overprovisioning_pct && hosts_ == hosts;
  }
  const std::vector<PriorityHosts>& priorities() const { return priorities_; }
  uint32_t healthyCount() const { return healthy_count_; }
  uint32_t degradedCount() const { return degraded_count_; }
  // Draining: they count neither as healthy nor as lost.
  uint32_t excludedCount() const { return excluded_count_; }
  uint32_t maxWeight() const { return max_weight_; }
  // The share of traffic of each priority, healthy and degraded hosts, where those that are true in
  // `avoided` get none. False: no other priority can take any.
  bool spreadOver(const std::vector<bool>& avoided, std::vector<uint32_t>* healthy,
                  std::vector<uint32_t>* degraded) const;
  // In how many priorities the hosts are others than in `before`.
  uint64_t prioritiesOtherThan(const HostSet& before) const;

 private:
  void spreadLoad(uint32_t panic_threshold_pct);
  void spreadLoadInPanic();

  const std::vector<std::shared_ptr<Host>> hosts_;
  const std::shared_ptr<const void> settings_;
  const uint32_t overprovisioning_pct_;
  std::vector<PriorityHosts> priorities_;
  uint32_t healthy_count_ = 0;
  uint32_t degraded_count_ = 0;
  uint32_t excluded_count_ = 0;
  uint32_t max_weight_ = 0;
};

}  // namespace fairlead::upstream
