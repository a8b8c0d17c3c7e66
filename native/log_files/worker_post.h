// How the threads that log are reached, as long as they run. Any thread's.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>

#include "base/mutex.h"

namespace fairlead::log_files {

class WorkerPost {
 public:
  using Task = std::function<void()>;
  // Runs the task on that worker's thread.
  using Send = std::function<void(size_t worker, Task task)>;

  void open(Send send) {
    const std::lock_guard lock(mutex_);
    send_ = std::move(send);
  }
  // Workers are not there any more.
  void close() { open(nullptr); }
  // A task is lost where there are no workers.
  void send(size_t worker, Task task) {
    const std::lock_guard lock(mutex_);
    if (send_) send_(worker, std::move(task));
  }

 private:
  Mutex mutex_;
  Send send_;  // Guarded by mutex_.
};

}  // namespace fairlead::log_files
