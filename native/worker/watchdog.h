// Watches threads from one of its own: who does not come back to its loop for too long is counted,
// told of in the log with its stack, and in the end, where that is wanted, ends the process.
// Made and ended by the control thread.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/thread.h"
#include "plan/plan.gen.h"

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

class Watchdog {
 public:
  // What ends the process. Tests have another.
  using Kill = std::function<void(const std::string& why)>;

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
  // The threads of one kind.
  struct Stuck {
    const plan::Watchdog* limits = nullptr;
    size_t watched = 0;
    size_t stuck = 0;
  };
  void run();
  // For as long as several end the process.
  bool isStuck(State& state, uint64_t now_us, uint64_t late_us);
  void tell(const State& state, uint64_t stuck_us);
  void killFor(const std::string& why);

  const Kill kill_;
  std::deque<State> states_;
  const uint64_t interval_us_;
  Mutex mutex_;
  std::condition_variable_any wake_;
  // Guarded by mutex_.
  bool is_stopping_ = false;
  Thread thread_;
};

}  // namespace fairlead::worker
