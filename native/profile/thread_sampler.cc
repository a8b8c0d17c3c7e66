#include "profile/thread_sampler.h"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <cerrno>

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

uintptr_t programCounter(const void* context) {
  const auto* machine = &static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<uintptr_t>(machine->gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<uintptr_t>(machine->pc);
#else
#error "which register is the program counter?"
#endif
}

struct Walk {
  uintptr_t interrupted_at;
  std::span<uintptr_t> out;
  size_t depth = 0;
};

// The frames of the handler itself come first: they are left out.
_Unwind_Reason_Code onFrame(_Unwind_Context* frame, void* argument) {
  auto* walk = static_cast<Walk*>(argument);
  const uintptr_t address = _Unwind_GetIP(frame);
  if (walk->depth == 0 && address != walk->interrupted_at) return _URC_NO_REASON;
  if (walk->depth == walk->out.size()) return _URC_END_OF_STACK;
  // A return address belongs to the call before it.
  walk->out[walk->depth] = walk->depth == 0 ? address : address - 1;
  ++walk->depth;
  return _URC_NO_REASON;
}

}  // namespace

ThreadSampler::ThreadSampler() : ring_(std::make_unique<std::array<Sample, kCapacity>>()) {}

bool ThreadSampler::start() {
  if (running_) return true;
  // The unwinder loads what it needs when it is used for the first time, which a handler must not.
  uintptr_t none;
  Walk walk{0, {&none, 1}};
  _Unwind_Backtrace(onFrame, &walk);

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
  static_cast<ThreadSampler*>(info->si_value.sival_ptr)->take(programCounter(context));
  errno = error;
}

void ThreadSampler::take(uintptr_t interrupted_at) {
  const uint32_t at = written_.load(std::memory_order_relaxed);
  if (at - read_.load(std::memory_order_acquire) == kCapacity) return;
  Sample& sample = (*ring_)[at % kCapacity];
  Walk walk{interrupted_at, sample.addresses};
  _Unwind_Backtrace(onFrame, &walk);
  if (walk.depth == 0) {
    sample.addresses[0] = interrupted_at;
    walk.depth = 1;
  }
  sample.depth = static_cast<uint32_t>(walk.depth);
  written_.store(at + 1, std::memory_order_release);
}

}  // namespace fairlead::profile
