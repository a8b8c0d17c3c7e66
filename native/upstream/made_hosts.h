// The way of hosts that a worker has made, as a request asked for them, to the control thread,
// which has the other workers and /clusters know them.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "upstream/host.h"

namespace fairlead::upstream {

class Cluster;

class MadeHosts {
 public:
  struct Made {
    // Which may have left its place meanwhile.
    std::weak_ptr<Cluster> cluster;
    std::shared_ptr<Host> host;
  };

  // `workers`: how many count for a host. `wake`: has the control thread take what there is, soon;
  // called on any thread; null: it looks by itself.
  MadeHosts(unsigned workers, std::function<void()> wake)
      : workers_(workers), wake_(std::move(wake)) {}

  unsigned workers() const { return workers_; }
  // Any thread.
  void put(Made made) {
    bool is_first;
    {
      const std::lock_guard lock(mutex_);
      is_first = made_.empty();
      made_.push_back(std::move(made));
    }
    if (is_first && wake_) wake_();
  }
  // The control thread, in their order.
  std::vector<Made> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(made_, {});
  }

 private:
  const unsigned workers_;
  const std::function<void()> wake_;
  Mutex mutex_;
  std::vector<Made> made_;  // Guarded by mutex_.
};

}  // namespace fairlead::upstream
