// envoy.filters.network.set_filter_state, and the listener filter of that name: texts that are made
// of a connection and kept with it, under names by which others ask for them. Shared by all
// workers; immutable.
#pragma once

#include <memory>
#include <vector>

#include "format/format.h"
#include "net/filter_state.h"
#include "net/listener_filter.h"
#include "net/transport.h"
#include "plan/plan.gen.h"

namespace fairlead::filters {

class StateValues {
 public:
  explicit StateValues(const std::vector<plan::FilterStateValue>& plans);

  bool empty() const { return values_.empty(); }
  // `state`: made where there is none and there is something to keep.
  void set(std::shared_ptr<net::FilterState>* state, format::FormatContext& context) const;

 private:
  struct Value {
    plan::FilterStateValue plan;
    format::Format format;
  };
  std::vector<Value> values_;
};

// Connections of a chain with such filters. `inner`: null: raw sockets.
net::SharedTransport keepStates(const std::vector<plan::ConnectionState>& plans,
                                net::SharedTransport inner);

// The listener filter.
class AcceptStateConfig final : public net::ListenerFilterConfig {
 public:
  explicit AcceptStateConfig(const plan::AcceptState& plan) : values_(plan.values) {}
  std::unique_ptr<net::ListenerFilter> make(unsigned worker) const override;

 private:
  const StateValues values_;
};

}  // namespace fairlead::filters
