#include "net/shared_states.h"

namespace fairlead::net {

std::shared_ptr<const SharedStates> SharedStates::of(const FilterState* connection,
                                                     const FilterState* request) {
  std::shared_ptr<SharedStates> states;
  for (const FilterState* const from : {connection, request}) {
    if (!from) continue;
    from->forEachShared([&states](const std::string& key, const std::string& text,
                                  bool is_read_only, const StateSharing& sharing) {
      if (!states) states = std::make_shared<SharedStates>();
      // What is not to go on is no longer shared where it arrives.
      states->values_.push_back({key,
                                 text,
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
    state->set(value.key, value.text, value.is_read_only, value.sharing);
  }
}

}  // namespace fairlead::net
