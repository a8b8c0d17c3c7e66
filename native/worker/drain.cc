#include "worker/drain.h"

#include "net/loop.h"

namespace fairlead::worker {

using Direction = plan::Listener::Direction;
using DrainType = plan::Listener::DrainType;

net::DrainRamp drainRamp(uint32_t seconds, DrainStrategy strategy) {
  const net::Millis now = net::Loop::readClockMicros() / 1000;
  // The real server's chance reaches one in the middle of the drain time, so that clients which ask
  // seldom learn of it before the end.
  return {now, strategy == DrainStrategy::Immediate ? 0 : seconds / 2 + seconds % 2, seconds};
}

void Drain::join(const plan::Listener& plan, std::shared_ptr<net::DrainDecision> decision) {
  const net::DrainDecision* const key = decision.get();
  const auto [member, _] =
      members_.try_emplace(key, Member{std::move(decision), plan.direction, plan.drain_type});
  publish(member->second);
}

void Drain::start(const net::DrainDecision& decision, const net::DrainRamp& ramp) {
  const auto member = members_.find(&decision);
  if (member == members_.end()) return;
  member->second.own = net::soonerOf(member->second.own, ramp);
  publish(member->second);
}

void Drain::start(DrainScope scope, const net::DrainRamp& ramp) {
  net::DrainRamp& current = scope == DrainScope::All ? all_ : inbound_;
  current = net::soonerOf(current, ramp);
  publishAll();
}

void Drain::cancel() {
  inbound_ = {};
  all_ = {};
  publishAll();
}

void Drain::setHealthCheckFailed(bool failed) {
  health_check_failed_->store(failed, std::memory_order_relaxed);
  publishAll();
}

void Drain::stop(DrainScope scope) {
  (scope == DrainScope::All ? all_stopped_ : inbound_stopped_) = true;
}

bool Drain::isStopped(Direction direction) const {
  return all_stopped_ || (inbound_stopped_ && direction == Direction::Inbound);
}

void Drain::publish(const Member& member) const {
  net::DrainRamp ramp = net::soonerOf(all_, member.own);
  if (member.direction == Direction::Inbound) ramp = net::soonerOf(ramp, inbound_);
  const bool failed = health_check_failed_->load(std::memory_order_relaxed);
  if (failed && member.type == DrainType::Default) ramp = {0, 0};
  member.decision->set(ramp);
}

void Drain::publishAll() const {
  for (const auto& [_, member] : members_) publish(member);
}

}  // namespace fairlead::worker
