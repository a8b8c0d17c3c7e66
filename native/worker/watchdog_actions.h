// What a watchdog does besides counting once threads of one kind, the control thread or the
// workers, are away for long: in the order of its configuration, at each event. Part of a watchdog,
// on whose thread it acts; the control thread takes the counts.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.gen.h"
#include "profile/profile_file.h"

namespace fairlead::worker {

// Somebody's loop. Called on the watchdog's thread.
struct WatchedThread {
  // As logs call it.
  std::string name;
  // 0: it waits for something to do; otherwise a value that is another one with every turn.
  std::function<uint64_t()> turn;
  // Of the kernel; 0: not yet known.
  std::function<pid_t()> id;
  bool is_main = false;
};
using AwayThreads = std::vector<const WatchedThread*>;

// Samples where threads are that are in a turn, one profile at a time for all watchdogs.
class ProfileTaker {
 public:
  static constexpr uint64_t kPeriodUs = 10'000;

  bool isRunning() const { return end_us_ != 0; }
  // None runs. `on_end`: whether the file is there.
  void start(std::string path, uint64_t end_us, std::function<void(bool)> on_end);
  // Once in kPeriodUs while one runs.
  void sample(const std::vector<const WatchedThread*>& threads, uint64_t now_us);

 private:
  std::string path_;
  std::function<void(bool)> on_end_;
  // 0: none runs.
  uint64_t end_us_ = 0;
  profile::ProfileFile file_;
};

class WatchdogActions {
 public:
  using Event = plan::WatchdogAction::Event;
  // What ends the process; it may return in tests alone.
  using Kill = std::function<void(const std::string& why)>;

  WatchdogActions(const std::vector<plan::WatchdogAction>& plans, ProfileTaker& profiles,
                  Kill kill);

  void run(Event event, const AwayThreads& threads, uint64_t now_us);

  // Since they were taken before. Any thread, one at a time.
  struct Counts {
    uint32_t profiles_attempted;
    uint32_t profiles_captured;
    uint32_t backtraces_logged;
    uint32_t backtraces_failed;
  };
  Counts takeCounts();

 private:
  struct Action {
    plan::WatchdogAction plan;
    uint64_t profiles_started = 0;
    bool profile_runs = false;
    // By thread: when its stack was written last.
    std::map<const WatchedThread*, uint64_t> told_us;
  };
  void profile(Action& action, const AwayThreads& threads, uint64_t now_us);
  void abort(const plan::AbortAction& plan, const AwayThreads& threads);
  void backtrace(Action& action, const AwayThreads& threads, uint64_t now_us);

  std::vector<Action> actions_;
  ProfileTaker& profiles_;
  const Kill kill_;
  std::atomic<uint32_t> profiles_attempted_ = 0;
  std::atomic<uint32_t> profiles_captured_ = 0;
  std::atomic<uint32_t> backtraces_logged_ = 0;
  std::atomic<uint32_t> backtraces_failed_ = 0;
};

}  // namespace fairlead::worker
