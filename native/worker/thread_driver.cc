#include "worker/thread_driver.h"

#include <pthread.h>
#include <sched.h>

#include <cstring>
#include <string>

#include "worker/time_slice.h"

namespace fairlead::worker {

namespace {

// One of those that the process may use, another one for each number as long as there are any. What
// the system refuses stays as it is.
void stayOnProcessor(unsigned number) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  const auto count = static_cast<unsigned>(CPU_COUNT(&allowed));
  if (count == 0) return;
  unsigned left = number % count;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || left-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ::pthread_setaffinity_np(::pthread_self(), sizeof(one), &one);
    return;
  }
}

}  // namespace

ThreadDriver::~ThreadDriver() {
  worker_.beginStop();
  join();
}

Result<void> ThreadDriver::start() {
  const int error = thread_.start([this] { run(); });
  if (error == 0) return {};
  return Error{std::string("cannot start its thread: ") + std::strerror(error)};
}

void ThreadDriver::run() {
  const std::string name = "wrk:worker_" + std::to_string(worker_.index());
  ::pthread_setname_np(::pthread_self(), name.substr(0, 15).c_str());
  if (worker_.isPinned()) stayOnProcessor(worker_.index());
  askForShortTurns();
  worker_.begin();
  while (worker_.waitAndTurn()) {
  }
}

}  // namespace fairlead::worker
