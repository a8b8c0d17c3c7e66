// What filters are told while they work, by the control thread: secrets that come by SDS, tokens
// and credentials that are fetched. Each worker has the value that was given to it last, so that
// nobody waits for anybody. Held by filters; known to the data plane by its number.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/list.h"
#include "plan/plan.gen.h"

namespace fairlead::filters {

// `Plan`: has an `id`; 0: it never changes.
template <typename Plan>
class LiveValue {
 public:
  using Value = std::shared_ptr<const Plan>;

  // Told once, on the worker's thread, when a value comes. Forgets itself when it ends.
  class Waiter : public ListNode<Waiter> {
   public:
    virtual void onValue() = 0;

   protected:
    ~Waiter() = default;
  };

  LiveValue(Value first, unsigned workers) : id_(first->id), workers_(workers) {
    for (OfWorker& each : workers_) each.value = first;
  }

  uint32_t id() const { return id_; }
  // The worker's; lives until its turn ends.
  const Plan& of(unsigned worker) const { return *workers_[worker].value; }
  void wait(unsigned worker, Waiter& waiter) { workers_[worker].waiting.pushBack(&waiter); }
  void deliver(unsigned worker, Value value) {
    OfWorker& own = workers_[worker];
    own.value = std::move(value);
    // Those that come meanwhile wait for the next one; whoever hears of it may end others.
    List<Waiter> waiting;
    own.waiting.moveAllTo(waiting);
    while (Waiter* const each = waiting.popFront()) each->onValue();
  }

 private:
  struct OfWorker {
    Value value;
    List<Waiter> waiting;
  };

  const uint32_t id_;
  std::vector<OfWorker> workers_;
};

using LiveSecret = LiveValue<plan::Secret>;
using LiveAwsCredentials = LiveValue<plan::AwsCredentials>;

// Those of a data plane, by their numbers. The control thread's.
template <typename Plan>
class LiveValuesOf {
 public:
  // One that is there already, or a new one. It has what `plan` says at first.
  std::shared_ptr<LiveValue<Plan>> of(const Plan& plan, unsigned workers) {
    std::erase_if(values_, [](const auto& known) { return known.second.expired(); });
    if (plan.id > 0) {
      if (auto known = find(plan.id)) return known;
    }
    auto made = std::make_shared<LiveValue<Plan>>(std::make_shared<const Plan>(plan), workers);
    if (plan.id > 0) values_[plan.id] = made;
    return made;
  }
  // Null: nobody has one of that number, or not any more.
  std::shared_ptr<LiveValue<Plan>> find(uint32_t id) const {
    const auto found = values_.find(id);
    return found == values_.end() ? nullptr : found->second.lock();
  }

 private:
  std::map<uint32_t, std::weak_ptr<LiveValue<Plan>>> values_;
};

struct LiveValues {
  LiveValuesOf<plan::Secret> secrets;
  LiveValuesOf<plan::AwsCredentials> aws;
};

}  // namespace fairlead::filters
