// Which host gets a request. One per worker and cluster: its positions are the worker's own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/random.h"
#include "plan/plan.gen.h"
#include "upstream/balancer_settings.h"
#include "upstream/edf_schedule.h"
#include "upstream/host_set.h"
#include "upstream/retry_hosts.h"

namespace fairlead::upstream {

struct Choice {
  Host* host = nullptr;
  // The priority that was asked panics: health was ignored, or nobody was chosen.
  bool panicked = false;
  // Zones would have counted, but the proxy's own cluster panics.
  bool local_cluster_panics = false;
  ZoneRouting::Verdict zone = ZoneRouting::Verdict::None;
  // Of clusters with subsets: how it was found.
  enum class Subset : uint8_t { None, Selected, Fallback, Panic };
  Subset subset = Subset::None;

  // There is something to count.
  bool isCounted() const {
    return panicked || local_cluster_panics || zone != ZoneRouting::Verdict::None ||
           subset != Subset::None;
  }
};

// What a request brings along.
struct PickContext {
  // Absent: chance decides.
  std::optional<uint64_t> hash = {};
  // In place of the set's own; null: those.
  const PriorityLoads* loads = nullptr;
  // As in HashPick.
  uint32_t attempt = 0;
  uint64_t active_requests = 0;
};

class Balancer {
 public:
  // `settings` must outlive it. `worker`: whose counters of a host are this thread's.
  Balancer(const BalancerSettings& settings, unsigned worker, Random& random)
      : settings_(settings), worker_(worker), random_(random) {}

  // Hosts changed. Lent: the set must outlive the balancer or the next setHosts().
  // `local`: the proxy and its like; null: nobody knows them.
  void setHosts(const HostSet& hosts, const HostSet* local = nullptr);
  // The proxy's like changed.
  void setLocalHosts(const HostSet* local);
  Choice choose() {
    if (plain_) return {.host = pick(*plain_)};
    return choose(PickContext());
  }
  Choice choose(const PickContext& context);

 private:
  // What is remembered of one list of hosts.
  struct ListState {
    const HostList* hosts = nullptr;
    // Its hosts are scheduled: their weights differ, or did when the first of them was chosen.
    bool is_begun = false;
    bool is_scheduled = false;
    uint64_t position = 0;
    EdfSchedule schedule;
  };
  // By locality.
  struct LocalityState {
    std::vector<ListState> lists;
    EdfSchedule schedule;
  };
  struct PriorityState {
    ListState all;
    ListState healthy;
    ListState degraded;
    LocalityState healthy_localities;
    LocalityState degraded_localities;
    // Where they share by load.
    LocalityState all_localities;
  };
  struct Source {
    size_t priority = 0;
    bool is_healthy = true;
  };

  void prepare(PriorityState& state, const PriorityHosts& hosts);
  void prepare(LocalityState& state, const PriorityHosts& hosts, HostList LocalityHosts::* list,
               double LocalityHosts::* weight);
  Source chooseSource(const PriorityLoads* loads);
  Choice chooseByHash(const PickContext& context);
  Choice chooseByLoad(const Source& source);
  // Null: localities do not share by weight here.
  ListState* pickByWeight(LocalityState& localities, const PriorityHosts& hosts,
                          double LocalityHosts::* weight);
  ListState* pickByZone(LocalityState& localities, Choice* choice);
  bool routesByZone(size_t priority) const;
  void begin(ListState& state);
  Host* pick(ListState& state) {
    const HostList& hosts = *state.hosts;
    if (hosts.size() == 1) return hosts[0];
    return pickOfMany(state);
  }
  Host* pickOfMany(ListState& state);
  Host* pickLeastLoaded(const HostList& hosts);
  uint64_t activeOf(const Host& host) const { return host.sum(&HostCounters::rq_active); }
  double scheduleWeight(const Host& host) const;

  const BalancerSettings& settings_;
  const unsigned worker_;
  Random& random_;
  const HostSet* hosts_ = nullptr;
  std::vector<PriorityState> priorities_;
  ZoneRouting zones_;
  // The only list that requests come from. Null: it depends.
  ListState* plain_ = nullptr;
};

}  // namespace fairlead::upstream
