// Who gives a worker its turns: a thread of its own (thread_driver.h), or a loop that has other
// work, too (addon/uv_driver.h). Owned beside its worker, and gone before it.
#pragma once

#include <functional>
#include <memory>

#include "base/result.h"
#include "worker/worker.h"

namespace fairlead::worker {

class Driver {
 public:
  // Ends its worker, if that was started, and waits for it.
  virtual ~Driver() = default;

  // The control thread, once: the worker has its turns from here on, unless the system refuses.
  virtual Result<void> start() = 0;
  // Any one thread: waits for the worker's end, if it was started. Worker::beginStop() asks for it.
  virtual void join() = 0;
};

using MakeDriver = std::function<std::unique_ptr<Driver>(Worker& worker)>;

}  // namespace fairlead::worker
