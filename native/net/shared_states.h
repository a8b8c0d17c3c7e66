// What of the filter state of a request and its connection goes along with connections to hosts.
// Immutable; on one worker.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "net/filter_state.h"
#include "plan/plan.gen.h"

namespace fairlead::net {

// Whether anything that was ever built keeps what connections to hosts depend on. For good, once it
// is so; any thread.
inline std::atomic<bool> state_for_hosts{false};
inline bool isStateForHosts() { return state_for_hosts.load(std::memory_order_relaxed); }
// Of each value that may be kept, before any is.
void noteState(const plan::FilterStateValue& plan);

inline StateSharing sharingOf(const plan::FilterStateValue& plan) {
  return {plan.is_shared, plan.goes_on, plan.is_hashable};
}

class SharedStates {
 public:
  // Of a connection, and of a request of it; null: it has none. Null: nothing of them is shared.
  static std::shared_ptr<const SharedStates> of(const FilterState* connection,
                                                const FilterState* request);

  // The same text for requests that share connections.
  const std::string& key() const { return key_; }
  // Whoever is connected to has them.
  void keepIn(FilterState* state) const;

 private:
  struct Value {
    std::string key;
    std::string text;
    FilterState::Form form;
    bool is_read_only;
    StateSharing sharing;
  };

  std::vector<Value> values_;
  std::string key_;
};

using SharedStatesPtr = std::shared_ptr<const SharedStates>;

}  // namespace fairlead::net
