#include "profile/thread_sampler.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "profile/stack_walk.h"

namespace fairlead::profile {

namespace {

// Not SIGPROF: that is V8's, whose own profiler may run at the same time.
int profileSignal() { return SIGRTMAX - 2; }

sigset_t onlyProfileSignal() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, profileSignal());
  return set;
}

}  // namespace

ThreadSampler::ThreadSampler() : ring_(std::make_unique<std::array<Sample, kCapacity>>()) {}

bool ThreadSampler::start() {
  if (running_) return true;
  prepareWalks();

  struct sigaction action = {};
  action.sa_sigaction = &ThreadSampler::onSignal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ::sigfillset(&action.sa_mask);
  if (::sigaction(profileSignal(), &action, nullptr) != 0) return false;

  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = profileSignal();
  event.sigev_value.sival_ptr = this;
  // The kernel calls it sigev_notify_thread_id; glibc long had no name for it.
  event._sigev_un._tid = static_cast<pid_t>(::syscall(SYS_gettid));
  if (::timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) != 0) return false;
  const timespec period{0, kPeriodMs * 1'000'000};
  const itimerspec schedule{period, period};
  ::timer_settime(timer_, 0, &schedule, nullptr);
  const sigset_t set = onlyProfileSignal();
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  running_ = true;
  return true;
}

void ThreadSampler::stop() {
  if (!running_) return;
  running_ = false;
  const sigset_t set = onlyProfileSignal();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  ::timer_delete(timer_);
  // One may have been on its way.
  const timespec at_once{0, 0};
  while (::sigtimedwait(&set, nullptr, &at_once) > 0) {
  }
}

void ThreadSampler::onSignal(int, siginfo_t* info, void* context) {
  if (info->si_code != SI_TIMER) return;
  const int error = errno;
  static_cast<ThreadSampler*>(info->si_value.sival_ptr)->take(context);
  errno = error;
}

void ThreadSampler::take(const void* context) {
  const uint32_t at = written_.load(std::memory_order_relaxed);
  if (at - read_.load(std::memory_order_acquire) == kCapacity) return;
  Sample& sample = (*ring_)[at % kCapacity];
  sample.depth = static_cast<uint32_t>(walkStack(context, sample.addresses));
  written_.store(at + 1, std::memory_order_release);
}

}  // namespace fairlead::profile
