#include "net/shared_states.h"

#include <algorithm>
#include <array>

#include "net/state_keys.h"

namespace fairlead::net {

void noteState(const plan::FilterStateValue& plan) {
  static constexpr std::array kKeys = {kServerNameKey, kSubjectNamesKey, kProtocolsKey,
                                       kHostKey,       kPortKey,         kDebugKey};
  if (!plan.is_shared && std::ranges::find(kKeys, plan.key) == kKeys.end()) return;
  state_for_hosts.store(true, std::memory_order_relaxed);
}

std::shared_ptr<const SharedStates> SharedStates::of(const FilterState* connection,
                                                     const FilterState* request) {
  std::shared_ptr<SharedStates> states;
  for (const FilterState* const from : {connection, request}) {
    if (!from) continue;
    from->forEachShared([&states](const std::string& key, const std::string& text,
                                  FilterState::Form form, bool is_read_only,
                                  const StateSharing& sharing) {
      if (!states) states = std::make_shared<SharedStates>();
      // What is not to go on is no longer shared where it arrives.
      states->values_.push_back({key,
                                 text,
                                 form,
                                 is_read_only,
                                 {.is_shared = sharing.goes_on,
                                  .goes_on = sharing.goes_on,
                                  .is_hashable = sharing.is_hashable}});
      if (!sharing.is_hashable) return;
      for (const std::string* const part : {&key, &text}) {
        states->key_.append(std::to_string(part->size())).append(1, ':').append(*part);
      }
    });
  }
  return states;
}

void SharedStates::keepIn(FilterState* state) const {
  for (const Value& value : values_) {
    state->set(value.key, value.text, value.is_read_only, value.form, value.sharing);
  }
}

}  // namespace fairlead::net
