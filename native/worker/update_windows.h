// When workers hear of changed hosts, as the real server's cluster manager has it: at once of hosts
// that come or go, and of anything else where nothing has changed for a while
// (update_merge_window). What comes sooner they hear of together, when that while is over. The
// control thread's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "stats/registry.h"
#include "worker/cluster_turns.h"

namespace fairlead::worker {

class UpdateWindows {
 public:
  // What an update changes of a priority.
  enum class Change : uint8_t { None, Details, Members };

  explicit UpdateWindows(std::shared_ptr<stats::Block<stats::ClusterManager>> stats)
      : stats_(std::move(stats)) {}

  // Changes of a cluster by priority, with its window (0: there is none), both in milliseconds of
  // upstream::hostClockMs(). False: workers hear of it when its turn comes.
  bool note(const std::string& cluster, uint64_t window_ms, const std::vector<Change>& changes,
            uint64_t now_ms);
  // The same of an update of all priorities at once, which counts once: workers hear of it now.
  void noteWhole(const std::string& cluster, uint64_t window_ms, const std::vector<Change>& changes,
                 uint64_t now_ms);
  // The clusters of which workers hear now.
  std::set<std::string> run(uint64_t now_ms);
  // Another comes in its place, or none.
  void forget(const std::string& cluster);
  // UINT64_MAX: nobody waits.
  uint64_t due() const { return turns_.due(); }

 private:
  struct Priority {
    // None: there was nothing yet.
    std::optional<uint64_t> told_ms;
    std::optional<uint64_t> due_ms;
  };

  bool isTold(Priority* priority, uint64_t window_ms, bool is_mergeable, uint64_t now_ms);
  void setTurn(const std::string& cluster, const std::vector<Priority>& priorities);

  const std::shared_ptr<stats::Block<stats::ClusterManager>> stats_;
  std::unordered_map<std::string, std::vector<Priority>> clusters_;
  ClusterTurns turns_;
};

}  // namespace fairlead::worker
