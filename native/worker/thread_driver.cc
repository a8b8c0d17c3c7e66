#include "worker/thread_driver.h"

#include <pthread.h>

#include <cstring>
#include <string>

#include "worker/time_slice.h"

namespace fairlead::worker {

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
  askForShortTurns();
  worker_.begin();
  while (worker_.waitAndTurn()) {
  }
}

}  // namespace fairlead::worker
