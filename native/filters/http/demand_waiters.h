// Those on each worker who wait for what a control plane is asked for. The workers' threads, each
// for its own; the control thread has them told.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/list.h"
#include "filters/http/demands.h"

namespace fairlead::filters {

// Hears onMet() once, unless it leaves before.
class OnDemandWaiter : public ListNode<OnDemandWaiter> {
 public:
  virtual void onMet() = 0;

 protected:
  ~OnDemandWaiter() = default;
};

class DemandWaiters {
 public:
  // `demands` outlives it.
  DemandWaiters(unsigned workers, Demands& demands)
      : waiting_(std::make_shared<Waiting>(workers)), demands_(demands) {
    demands_.add(waiting_);
  }

  // What others wait for already is asked for once more, as it may have been refused to them.
  void wait(unsigned worker, DemandKey key, OnDemandWaiter* waiter) const {
    if (waiting_->add(worker, key, waiter)) demands_.put(std::move(key));
  }

 private:
  class Waiting final : public Demands::Waiting {
   public:
    explicit Waiting(unsigned workers) : by_worker_(workers) {}
    void onMet(unsigned worker, const DemandKey& key) override;
    // Whether it is the first that waits for it.
    bool add(unsigned worker, const DemandKey& key, OnDemandWaiter* waiter);

   private:
    struct Waiters {
      std::map<DemandKey, List<OnDemandWaiter>> by_key;
      // From so many on it is looked which of them have left.
      size_t crowd = kCrowd;
    };
    static constexpr size_t kCrowd = 1024;

    std::vector<Waiters> by_worker_;
  };

  const std::shared_ptr<Waiting> waiting_;
  Demands& demands_;
};

}  // namespace fairlead::filters
