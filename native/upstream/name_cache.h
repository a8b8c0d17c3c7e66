// What is known of names that requests ask for: the hosts of a forward proxy. Each worker has a
// view of its own, which the control thread keeps up to date; who asks for a name that is not known
// waits until it is. Shared by all filters and clusters that name it.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/list.h"
#include "net/timer_wheel.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::upstream {

// Takes names that are to be looked up, on any thread.
class NameSink {
 public:
  virtual ~NameSink() = default;
  virtual void onName(const std::string& cache, const std::string& name) = 0;
};

// A name that is known.
struct KnownName {
  // Why it is of no use; empty: it is.
  std::string failure;
  // When it was last asked for, in seconds of the loops' clock; all workers write it.
  std::shared_ptr<std::atomic<uint32_t>> used_at_s;
};

// Who waits for a name. Unlinked where it waits no longer.
class NameWaiter : public ListNode<NameWaiter> {
 public:
  // On its worker, once. It may wait for another name from here on.
  virtual void onName(const KnownName& name) = 0;

 protected:
  ~NameWaiter() = default;
};

class NameCache {
 public:
  // `stats`: null: nothing is counted. `sink`: null: nobody looks anything up.
  NameCache(const plan::NameCache& plan, std::shared_ptr<stats::Block<stats::NameCache>> stats,
            std::shared_ptr<NameSink> sink, unsigned workers)
      : plan_(plan), stats_(std::move(stats)), sink_(std::move(sink)), views_(workers) {}

  const plan::NameCache& plan() const { return plan_; }

  // ---- a worker's thread ----

  // Of all that ask at once there may be so many; each that may leaves once. False: it may not.
  bool enter(unsigned worker);
  void leave() { pending_.fetch_sub(1, std::memory_order_relaxed); }

  // Null: it is not known. Until the handler returns.
  const KnownName* find(unsigned worker, std::string_view name, net::Millis now);
  enum class State : uint8_t { Known, Waits, Full, Busy };
  // Known: `name` is what is known, until the handler returns. Otherwise the waiter waits, unless
  // there is no room for the name.
  State ask(unsigned worker, std::string_view name, net::Millis now, NameWaiter& waiter,
            const KnownName** known);
  // The same of one that has not entered, and leaves once it waits no longer; Busy: it may not
  // enter.
  State enterAndAsk(unsigned worker, std::string_view name, net::Millis now, NameWaiter& waiter,
                    const KnownName** known);
  void put(unsigned worker, const std::string& name, const KnownName& known);
  void drop(unsigned worker, const std::string& name) { views_[worker].known.erase(name); }

  // ---- the control thread ----

  // What workers are to put.
  KnownName note(const plan::NameAnswer& answer, net::Millis now);
  void forget(const std::string& name) { uses_.erase(name); }
  // Milliseconds since it was asked for; 0: it is not known.
  uint64_t ageMs(const std::string& name, net::Millis now) const;
  void refreshGauges();

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  template <typename Value>
  using ByName = std::unordered_map<std::string, Value, Hash, std::equal_to<>>;
  struct alignas(64) View {
    ByName<KnownName> known;
    ByName<std::unique_ptr<List<NameWaiter>>> waiting;
  };

  static uint32_t secondsOf(net::Millis now) { return static_cast<uint32_t>(now / 1000); }

  const plan::NameCache plan_;
  const std::shared_ptr<stats::Block<stats::NameCache>> stats_;
  const std::shared_ptr<NameSink> sink_;
  std::vector<View> views_;
  std::atomic<uint64_t> pending_{0};
  // The control thread's.
  std::unordered_map<std::string, std::shared_ptr<std::atomic<uint32_t>>> uses_;
};

// All caches, by their names. The control thread's.
class NameCaches {
 public:
  NameCaches(stats::Registry& registry, std::shared_ptr<NameSink> sink, unsigned workers)
      : registry_(registry), sink_(std::move(sink)), workers_(workers) {}

  void declare(const plan::NameCache& plan);
  // Null: there is none.
  std::shared_ptr<NameCache> find(const std::string& name) const {
    const auto found = caches_.find(name);
    return found == caches_.end() ? nullptr : found->second;
  }
  void refreshGauges();

 private:
  stats::Registry& registry_;
  const std::shared_ptr<NameSink> sink_;
  const unsigned workers_;
  // Of whoever looks names up: there as soon as anybody may be asked.
  std::shared_ptr<stats::BlockBase> resolver_stats_;
  std::unordered_map<std::string, std::shared_ptr<NameCache>> caches_;
};

// A host as a request names it, with its port.
std::string nameWithPort(std::string_view host, uint32_t default_port);

}  // namespace fairlead::upstream
