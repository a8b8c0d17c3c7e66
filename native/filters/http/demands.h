// What requests need and is not there: from the workers to the control thread, which asks a control
// plane, and back to whoever waits. Owned by the data plane.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "plan/plan.gen.h"

namespace fairlead::filters {

struct DemandKey {
  plan::Demand::Kind kind;
  uint32_t source;
  std::string name;

  bool operator<(const DemandKey& other) const {
    return std::tie(kind, source, name) < std::tie(other.kind, other.source, other.name);
  }
};

class Demands {
 public:
  // Who waits. The control thread adds them; their configurations hold them.
  class Waiting {
   public:
    virtual ~Waiting() = default;
    // It is there now, or will not be. That worker's thread.
    virtual void onMet(unsigned worker, const DemandKey& key) = 0;
  };

  // `wake`: has the control thread take what there is, soon; called on any thread; null: it looks
  // by itself.
  explicit Demands(std::function<void()> wake) : wake_(std::move(wake)) {}

  // Any thread.
  void put(DemandKey key) {
    bool is_first;
    {
      const std::lock_guard lock(mutex_);
      is_first = keys_.empty();
      // A flood of requests for many names must not fill the memory: those beyond wait in vain.
      if (keys_.size() < kMost) keys_.insert(std::move(key));
    }
    if (is_first && wake_) wake_();
  }

  // ---- the control thread's ----
  std::set<DemandKey> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(keys_, {});
  }
  void add(const std::shared_ptr<Waiting>& waiting) {
    std::erase_if(waiting_, [](const auto& known) { return known.expired(); });
    waiting_.push_back(waiting);
  }
  std::vector<std::shared_ptr<Waiting>> waiting() const {
    std::vector<std::shared_ptr<Waiting>> alive;
    for (const auto& one : waiting_) {
      if (auto held = one.lock()) alive.push_back(std::move(held));
    }
    return alive;
  }

 private:
  static constexpr size_t kMost = 10'000;

  const std::function<void()> wake_;
  Mutex mutex_;
  std::set<DemandKey> keys_;  // Guarded by mutex_.
  std::vector<std::weak_ptr<Waiting>> waiting_;
};

}  // namespace fairlead::filters
