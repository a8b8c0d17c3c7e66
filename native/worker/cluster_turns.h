// When clusters that are looked after at intervals have their next turns, by name: a cluster may be
// gone by then. The control thread's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace fairlead::worker {

class ClusterTurns {
 public:
  // Times are in milliseconds of one clock. In place of the turn that it had.
  void set(const std::string& name, uint64_t at_ms) {
    const auto [turn, is_new] = turns_.try_emplace(name, at_ms);
    if (!is_new && turn->second == at_ms) return;
    turn->second = at_ms;
    due_.emplace(at_ms, name);
  }
  void drop(const std::string& name) { turns_.erase(name); }
  // One whose turn has come, and which has no other before it is set; none: nobody's has.
  std::optional<std::string> take(uint64_t now_ms) {
    while (due() <= now_ms) {
      auto [at_ms, name] = *due_.begin();
      due_.erase(due_.begin());
      const auto turn = turns_.find(name);
      if (turn == turns_.end() || turn->second != at_ms) continue;
      turns_.erase(turn);
      return std::move(name);
    }
    return std::nullopt;
  }
  // UINT64_MAX: nobody has a turn.
  uint64_t due() const { return due_.empty() ? UINT64_MAX : due_.begin()->first; }

 private:
  // With those that were set anew or dropped since.
  std::multimap<uint64_t, std::string> due_;
  std::map<std::string, uint64_t> turns_;
};

}  // namespace fairlead::worker
