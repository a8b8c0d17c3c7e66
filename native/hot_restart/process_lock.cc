#include "hot_restart/process_lock.h"

#include <time.h>

#include <cerrno>

namespace fairlead::hot_restart {

int ProcessLock::init() {
  pthread_mutexattr_t attributes;
  if (const int error = ::pthread_mutexattr_init(&attributes)) return error;
  int error = ::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  if (error == 0) error = ::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  if (error == 0) error = ::pthread_mutex_init(&mutex_, &attributes);
  ::pthread_mutexattr_destroy(&attributes);
  return error;
}

bool ProcessLock::tryLockFor(uint32_t timeout_ms) {
  int result = ::pthread_mutex_trylock(&mutex_);
  if (result == EBUSY && timeout_ms > 0) result = waitFor(timeout_ms);
  // Its holder died.
  if (result == EOWNERDEAD) return ::pthread_mutex_consistent(&mutex_) == 0;
  return result == 0;
}

int ProcessLock::waitFor(uint32_t timeout_ms) {
  timespec until;
  // Not the wall clock, which somebody may set while we wait.
  ::clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += timeout_ms / 1000;
  until.tv_nsec += static_cast<long>(timeout_ms % 1000) * 1'000'000;
  if (until.tv_nsec >= 1'000'000'000) {
    ++until.tv_sec;
    until.tv_nsec -= 1'000'000'000;
  }
  return ::pthread_mutex_clocklock(&mutex_, CLOCK_MONOTONIC, &until);
}

void ProcessLock::unlock() { ::pthread_mutex_unlock(&mutex_); }

}  // namespace fairlead::hot_restart
