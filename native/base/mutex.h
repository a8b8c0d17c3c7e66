// Every lock of the data plane: a std::mutex which can count how often a thread had to wait for
// one, and for how long (--enable-mutex-tracing, GET /contention). A lock that is free costs the
// same.
#pragma once

#include <cstdint>
#include <mutex>

namespace fairlead {

class Mutex {
 public:
  void lock() {
    if (!mutex_.try_lock()) lockAfterWaiting();
  }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  void lockAfterWaiting();

  std::mutex mutex_;
};

// Waits for all locks of the process, in cycles of the processor's clock.
struct Contention {
  uint64_t count = 0;
  uint64_t last_wait_cycles = 0;
  uint64_t total_wait_cycles = 0;
};

// Any thread. Counts from here on, until the process ends.
void traceMutexes();
// Any thread.
Contention contention();

}  // namespace fairlead
