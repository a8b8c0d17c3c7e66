// Which listeners drain, since when, and which are stopped: the one place where a drain is decided,
// whoever asks for it (POST /drain_listeners and /healthcheck/fail, a hot restart). Owned by the
// data plane; the control thread.
#pragma once

#include <atomic>
#include <memory>
#include <unordered_map>

#include "net/drain_decision.h"
#include "plan/plan.gen.h"

namespace fairlead::worker {

// Which listeners: those whose traffic direction is inbound, or every one.
enum class DrainScope : uint8_t { Inbound, All };

class Drain {
 public:
  // From here on `decision` is kept up to date for that listener, or one of its filter chains.
  void join(const plan::Listener& plan, std::shared_ptr<net::DrainDecision> decision);
  // It drains in any case, whatever the others do.
  void start(const net::DrainDecision& decision, const net::DrainRamp& ramp);
  // It stays as it is.
  void leave(const net::DrainDecision& decision) { members_.erase(&decision); }

  // Answers ask their clients to close, more and more as the ramp rises; the sooner of two counts.
  void start(DrainScope scope, const net::DrainRamp& ramp);
  // Takes back what was started for scopes: who was to take over is gone.
  void cancel();
  // While the server's health check fails all answers of a listener ask for a close, unless it
  // drains only when it is modified.
  void setHealthCheckFailed(bool failed);
  // For health checks: read by workers.
  std::shared_ptr<const std::atomic<bool>> healthCheckFailed() const {
    return health_check_failed_;
  }

  // Listeners of the scope take no connections any more, nor may others be added.
  void stop(DrainScope scope);
  bool isStopped(plan::Listener::Direction direction) const;

 private:
  struct Member {
    std::shared_ptr<net::DrainDecision> decision;
    plan::Listener::Direction direction;
    plan::Listener::DrainType type;
    // Its own drain, which nothing takes back.
    net::DrainRamp own = {};
  };

  void publish(const Member& member) const;
  void publishAll() const;

  std::unordered_map<const net::DrainDecision*, Member> members_;
  net::DrainRamp inbound_;
  net::DrainRamp all_;
  const std::shared_ptr<std::atomic<bool>> health_check_failed_ =
      std::make_shared<std::atomic<bool>>(false);
  bool inbound_stopped_ = false;
  bool all_stopped_ = false;
};

// Of a drain that begins now and may take `seconds`.
enum class DrainStrategy : uint8_t { Gradual, Immediate };
net::DrainRamp drainRamp(uint32_t seconds, DrainStrategy strategy);

}  // namespace fairlead::worker
