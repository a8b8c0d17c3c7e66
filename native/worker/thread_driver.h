// A worker on a thread of its own.
#pragma once

#include "base/thread.h"
#include "worker/driver.h"

namespace fairlead::worker {

class ThreadDriver final : public Driver {
 public:
  explicit ThreadDriver(Worker& worker) : worker_(worker) {}
  ThreadDriver(const ThreadDriver&) = delete;
  ThreadDriver& operator=(const ThreadDriver&) = delete;
  ~ThreadDriver() override;

  Result<void> start() override;
  void join() override { thread_.join(); }

 private:
  void run();

  Worker& worker_;
  Thread thread_;
};

}  // namespace fairlead::worker
