// How busy localities are, in clusters whose requests go where there is least to do, and what
// shares follow from it: reckoned anew at intervals. The control thread's.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stats/registry.h"
#include "upstream/cluster.h"
#include "worker/cluster_turns.h"

namespace fairlead::worker {

class LocalityLoads {
 public:
  using ClustersByName = std::map<std::string, std::shared_ptr<upstream::Cluster>>;

  explicit LocalityLoads(stats::Registry& registry) : registry_(registry) {}

  // A cluster of that name begins anew, if its plan wants it. Times are in milliseconds of
  // upstream::hostClockMs().
  void attach(upstream::Cluster& cluster, uint64_t now_ms);
  void forget(const std::string& cluster);
  // The set has shares, as they were reckoned last.
  void prepare(const upstream::Cluster& cluster, upstream::HostSet* set, uint64_t now_ms);
  // Reckons what is due.
  void run(const ClustersByName& clusters, uint64_t now_ms);
  // When the next interval ends; UINT64_MAX: there is none.
  uint64_t due() const { return turns_.due(); }

 private:
  using Source = upstream::LocalityShares::Source;
  template <typename Value>
  using ByLocality = std::map<upstream::Locality, Value>;

  // Of one priority, and of healthy, degraded or all hosts.
  struct Part {
    // How busy each locality is, smoothed.
    ByLocality<double> utilization;
    ByLocality<double> shares;
    bool is_all_local = false;
  };
  using Parts = std::array<Part, upstream::LocalityShares::kSources>;
  struct State {
    std::shared_ptr<stats::Block<stats::LocalityLoads>> stats;
    std::vector<Parts> priorities;
    bool is_reckoned = false;
  };
  // What there was of it in one turn.
  struct Found {
    bool all_overloaded = false;
    bool local_preferred = false;
    bool probe_active = false;
    bool spill_active = false;
    uint64_t stale_localities = 0;
  };

  static void reckon(State& state, const plan::LocalityLoads& rules, const upstream::HostSet& set,
                     uint64_t now_ms);
  static void reckonPart(Part& part, const plan::LocalityLoads& rules,
                         const upstream::PriorityHosts& hosts, Source source, uint64_t now_ms,
                         Found* found);
  static void publish(const State& state, const upstream::HostSet& set);

  stats::Registry& registry_;
  std::map<std::string, State> states_;
  ClusterTurns turns_;
};

}  // namespace fairlead::worker
