// Watches threads from one of its own: who does not come back to its loop for too long is counted,
// told of in the log with its stack, and in the end, where that is wanted, ends the process. What
// is to be done besides is WatchdogActions'. Made and ended by the control thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/thread.h"
#include "plan/plan.gen.h"
#include "worker/watchdog_actions.h"

namespace fairlead::worker {

class Watchdog {
 public:
  // What ends the process. Tests have another.
  using Kill = WatchdogActions::Kill;

  Watchdog(const plan::Watchdogs& plan, std::vector<WatchedThread> threads, Kill kill = nullptr);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog() { stop(); }

  // errno of what the system refuses; 0: it watches.
  int start();
  void stop();

  // How often each thread, in their order, was away too long since this was asked before. Any
  // thread, one at a time.
  struct Misses {
    uint32_t misses;
    uint32_t mega_misses;
  };
  Misses takeMisses(size_t thread);
  // What was done besides, for the control thread or for workers. As takeMisses().
  WatchdogActions::Counts takeActions(bool is_main) {
    return (is_main ? main_actions_ : worker_actions_).takeCounts();
  }
  size_t threads() const { return states_.size(); }

  // One look at all threads, as its thread does. `late_us`: how much later than intended.
  void look(uint64_t now_us, uint64_t late_us);
  uint64_t intervalUs() const { return interval_us_; }

 private:
  struct State {
    State(WatchedThread of, const plan::Watchdog& with);
    WatchedThread thread;
    plan::Watchdog limits;
    uint64_t kill_us;
    uint64_t turn = 0;
    // When it was first seen in this turn.
    uint64_t seen_us = 0;
    bool has_missed = false;
    bool has_mega_missed = false;
    std::atomic<uint32_t> misses = 0;
    std::atomic<uint32_t> mega_misses = 0;
  };
  // The threads of one kind, at one look.
  struct Kind {
    WatchdogActions& actions;
    const plan::Watchdog* limits = nullptr;
    size_t watched = 0;
    AwayThreads missed = {};
    AwayThreads mega_missed = {};
    // For as long as several end the process.
    AwayThreads stuck = {};
  };
  void run();
  void judge(State& state, Kind& kind, uint64_t now_us, uint64_t late_us);
  void act(Kind& kind, uint64_t now_us);
  void tell(const State& state, uint64_t stuck_us);
  void killFor(const std::string& why);

  const Kill kill_;
  std::deque<State> states_;
  // All of them.
  std::vector<const WatchedThread*> threads_;
  ProfileTaker profiles_;
  WatchdogActions main_actions_;
  WatchdogActions worker_actions_;
  const uint64_t interval_us_;
  Mutex mutex_;
  std::condition_variable_any wake_;
  // Guarded by mutex_.
  bool is_stopping_ = false;
  Thread thread_;
};

}  // namespace fairlead::worker
