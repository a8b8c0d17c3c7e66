#include "filters/network/connection_state.h"

#include <string>
#include <utility>

#include "base/wall_clock.h"
#include "format/origin.h"
#include "net/shared_states.h"
#include "net/state_value.h"
#include "net/wrapping_transport.h"

namespace fairlead::filters {

namespace {

using When = plan::ConnectionState::When;

struct MadeState {
  When when;
  StateValues values;
};
using States = std::vector<MadeState>;

void setOf(const StateValues& values, net::DownstreamConnection& connection) {
  format::FormatContext context;
  context.started_us = connection.startedAtMicros();
  context.start_time_us = wallClockMicros();
  format::describeConnection(connection, &context);
  std::shared_ptr<net::FilterState> state = connection.sharedFilterState();
  values.set(&state, context);
  connection.keepFilterState(std::move(state));
}

// Beneath one connection; its worker's thread.
class StateTransport final : public net::WrappingTransport {
 public:
  StateTransport(const States& states, net::DownstreamConnection& owner,
                 std::unique_ptr<net::Transport> inner)
      : WrappingTransport(std::move(inner)), states_(states), owner_(owner) {
    set(When::Connection);
    if (!inner_) set(When::Handshake);
  }

  Handshake handshake(int fd) override {
    if (!inner_) return Handshake::Done;
    const Handshake state = inner_->handshake(fd);
    if (state == Handshake::Done) set(When::Handshake);
    return state;
  }

  ssize_t read(int fd, char* to, size_t room) override {
    const ssize_t got = WrappingTransport::read(fd, to, room);
    if (got >= 0 && !std::exchange(has_data_, true)) set(When::Data);
    return got;
  }

 private:
  void set(When when) {
    for (const MadeState& state : states_) {
      if (state.when == when) setOf(state.values, owner_);
    }
  }

  const States& states_;
  net::DownstreamConnection& owner_;
  bool has_data_ = false;
};

class StateTransports final : public net::TransportFactory {
 public:
  StateTransports(States states, net::SharedTransport inner)
      : states_(std::move(states)), inner_(std::move(inner)) {}

  std::unique_ptr<net::Transport> make(const net::TransportTarget& target) const override {
    return std::make_unique<StateTransport>(states_, *target.owner,
                                            net::makeTransport(inner_, target));
  }
  bool isTls() const override { return net::isTls(inner_); }

 private:
  const States states_;
  const net::SharedTransport inner_;
};

class AcceptState final : public net::ListenerFilter {
 public:
  explicit AcceptState(const StateValues& values) : values_(values) {}

  Verdict look(net::EarlySocket& socket) override {
    net::AcceptedSocket& accepted = socket.socket();
    net::Findings& findings = socket.findings();
    format::FormatContext context;
    context.start_time_us = wallClockMicros();
    context.started_us = findings.accepted_at_us;
    context.connection_id = accepted.id;
    context.downstream_remote = &accepted.remote;
    context.downstream_direct_remote = &findings.direct_remote;
    context.downstream_local = &accepted.local;
    context.downstream_direct_local = &findings.direct_local;
    context.metadata = &findings.metadata;
    context.tlvs = &findings.tlvs;
    context.requested_server_name = findings.server_name;
    context.ja3 = findings.ja3;
    context.ja4 = findings.ja4;
    context.connection_state = findings.filter_state.get();
    values_.set(&findings.filter_state, context);
    return Verdict::Continue;
  }

 private:
  const StateValues& values_;
};

}  // namespace

StateValues::StateValues(const std::vector<plan::FilterStateValue>& plans) {
  for (const plan::FilterStateValue& plan : plans) {
    values_.push_back({plan, format::Format(plan.value.value_or(plan::Format()))});
    net::noteState(plan);
  }
}

void StateValues::set(std::shared_ptr<net::FilterState>* state,
                      format::FormatContext& context) const {
  std::string text;
  for (const Value& value : values_) {
    text.clear();
    value.format.appendLine(context, &text);
    if (text.empty() && value.plan.skips_empty) continue;
    net::FilterState::Form form;
    if (!net::readStateValue(value.plan.kind, &text, &form)) continue;
    if (!*state) *state = std::make_shared<net::FilterState>();
    (*state)->set(value.plan.key, text, value.plan.read_only, form, net::sharingOf(value.plan));
    // Those that follow may speak of it.
    context.connection_state = state->get();
  }
}

net::SharedTransport keepStates(const std::vector<plan::ConnectionState>& plans,
                                net::SharedTransport inner) {
  if (plans.empty()) return inner;
  States states;
  for (const plan::ConnectionState& plan : plans) {
    states.push_back({plan.when, StateValues(plan.values)});
  }
  return std::make_shared<StateTransports>(std::move(states), std::move(inner));
}

std::unique_ptr<net::ListenerFilter> AcceptStateConfig::make(unsigned) const {
  return std::make_unique<AcceptState>(values_);
}

}  // namespace fairlead::filters
