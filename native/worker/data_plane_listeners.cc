// Listeners as plans change them, and their drains.
#include <string>
#include <vector>

#include "worker/data_plane.h"

namespace fairlead::worker {

void DataPlane::startDrain(DrainScope scope, const net::DrainRamp& ramp) {
  drain_.start(scope, ramp);
  tellDrain();
}

void DataPlane::tellDrain() {
  for (const auto& worker : workers_) {
    worker->post([to = worker.get()] { to->tellDrain(); });
  }
}

void DataPlane::applyListeners(const plan::Update& update, std::vector<ApplyError>* errors) {
  const plan::ListenerDrain drain = update.drain.value_or(plan::ListenerDrain{.immediate = true});
  const net::DrainRamp ramp =
      drainRamp(drain.seconds, drain.immediate ? DrainStrategy::Immediate : DrainStrategy::Gradual);
  listeners_.end(update.ended_listeners, update.ended_filter_chains);
  // First, so that others may have their addresses.
  for (const std::string& name : update.removed_listeners) listeners_.remove(name, ramp);
  for (const plan::FilterChains& chains : update.filter_chains) {
    const Result<void> done = listeners_.putFilterChains(chains);
    if (!done) errors->push_back({"listener", chains.listener, done.error().message});
  }
  for (const plan::Listener& listener : update.listeners) {
    bool is_dropped = false;
    const Result<void> done = listeners_.put(listener, ramp, &is_dropped);
    const char* const kind = is_dropped ? kDroppedListener : "listener";
    if (!done) errors->push_back({kind, listener.name, done.error().message});
  }
  const bool may_drain = !update.removed_listeners.empty() || !update.filter_chains.empty() ||
                         !update.listeners.empty();
  if (may_drain) tellDrain();
}

}  // namespace fairlead::worker
