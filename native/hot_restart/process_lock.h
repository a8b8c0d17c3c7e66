// A mutual exclusion between processes, in memory that they share. Whoever dies with it held gives
// it up; what it guards must be good at every moment.
#pragma once

#include <pthread.h>

#include <cstdint>

#include "base/line_lock.h"

namespace fairlead::hot_restart {

class ProcessLock {
 public:
  ProcessLock() = default;
  ProcessLock(const ProcessLock&) = delete;
  ProcessLock& operator=(const ProcessLock&) = delete;

  // Once, by whoever makes the memory, before anyone else sees it. Returns errno; 0: it may be
  // used.
  int init();
  // Any thread of any process. False: it was not free within this time, and is not held.
  bool tryLockFor(uint32_t timeout_ms);
  void unlock();

 private:
  // What the system says of it: 0, EOWNERDEAD, ETIMEDOUT.
  int waitFor(uint32_t timeout_ms);

  pthread_mutex_t mutex_;
};

// The same for lines that several processes write to one place (base/line_lock.h).
class SharedLines final : public LineLock {
 public:
  explicit SharedLines(ProcessLock& lock) : lock_(lock) {}
  bool lock() override { return lock_.tryLockFor(kPatienceMs); }
  void unlock() override { lock_.unlock(); }

 private:
  // The other process may be stopped in the middle of a line.
  static constexpr uint32_t kPatienceMs = 1000;
  ProcessLock& lock_;
};

}  // namespace fairlead::hot_restart
