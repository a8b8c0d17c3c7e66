// Which host gets a request. One per worker and cluster: its positions are the worker's own.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/random.h"
#include "plan/plan.gen.h"
#include "upstream/edf_schedule.h"
#include "upstream/host_set.h"
#include "upstream/retry_hosts.h"

namespace fairlead::upstream {

struct BalancerSettings {
  plan::Cluster::Balancer kind = plan::Cluster::Balancer::RoundRobin;
  // LEAST_REQUEST: hosts drawn, of which the one with the fewest active requests is taken.
  uint32_t choices = 2;
  bool full_scan = false;
};

struct Choice {
  Host* host = nullptr;
  // The priority that was asked panics: health was ignored.
  bool panicked = false;
};

class Balancer {
 public:
  Balancer(BalancerSettings settings, unsigned worker, Random& random)
      : settings_(settings), worker_(worker), random_(random) {}

  // Hosts changed. Lent: the set must outlive the balancer or the next setHosts().
  void setHosts(const HostSet& hosts);
  Choice choose();
  // By these loads of priorities in place of the set's own.
  Choice chooseBy(const PriorityLoads& loads);

 private:
  // What is remembered of one list of hosts.
  struct ListState {
    const HostList* hosts = nullptr;
    bool weighted = false;
    uint64_t position = 0;
    EdfSchedule schedule;
  };
  struct PriorityState {
    ListState all;
    ListState healthy;
    ListState degraded;
  };

  void prepare(ListState& state, const HostList& hosts);
  Host* pick(ListState& state);
  Host* pickLeastLoaded(const HostList& hosts);
  double scheduleWeight(const Host& host) const;

  const BalancerSettings settings_;
  const unsigned worker_;
  Random& random_;
  const HostSet* hosts_ = nullptr;
  std::vector<PriorityState> priorities_;
};

}  // namespace fairlead::upstream
