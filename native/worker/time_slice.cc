#include "worker/time_slice.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace fairlead::worker {

namespace {

// The shortest that the kernel grants.
constexpr uint64_t kTurnNs = 100'000;

// The kernel's sched_attr, in its first version; C libraries before 2.41 have no name for it.
struct Attributes {
  uint32_t size;
  uint32_t policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime;
  uint64_t deadline;
  uint64_t period;
};

}  // namespace

void askForShortTurns() {
  Attributes attributes{};
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
  // Who was given another policy keeps it.
  if (attributes.policy != SCHED_OTHER) return;
  attributes.runtime = kTurnNs;
  ::syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace fairlead::worker
