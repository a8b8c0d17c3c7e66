// Filters that say whether a connection may go on, by themselves or as services tell them. They
// stand beneath what its chain speaks, so that nothing of a client is seen before: neither its
// first bytes nor, where a guard wants it, that it is there. Shared by all workers; immutable but
// for statistics.
#pragma once

#include <memory>
#include <vector>

#include "base/name_ids.h"
#include "base/result.h"
#include "base/runtime_slots.h"
#include "calls/calls.h"
#include "net/timer_wheel.h"
#include "net/transport.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::net {
class DownstreamConnection;
}

namespace fairlead::filters {

// Of each worker, by its number; there once the workers are.
using WorkerCalls = std::vector<calls::Calls*>;

// Of one connection; its worker's thread.
class GuardPass {
 public:
  enum class Verdict : uint8_t {
    Passes,
    // GuardWaiter::onVerdict() tells when to ask again.
    Waits,
    // What is to be counted and told is.
    Refused,
  };
  virtual ~GuardPass() = default;
  // Once, when it has come, and again after each wait.
  virtual Verdict onOpen() { return Verdict::Passes; }
  // With the first bytes, and again after each wait; with all that come, where it is continuous.
  virtual Verdict onData() { return Verdict::Passes; }
  virtual bool isContinuous() const { return false; }
  // Who is refused is left so long.
  virtual net::Millis delay() const { return 0; }
};

class GuardWaiter {
 public:
  virtual void onVerdict() = 0;

 protected:
  ~GuardWaiter() = default;
};

class ConnectionGuard {
 public:
  virtual ~ConnectionGuard() = default;
  virtual std::unique_ptr<GuardPass> make(net::DownstreamConnection& connection, unsigned worker,
                                          GuardWaiter& waiter) const = 0;
  // It decides at the very beginning.
  virtual bool isFirst() const { return false; }
};

using ConnectionGuards = std::vector<std::shared_ptr<const ConnectionGuard>>;

// What guards may be built with. The control thread's.
struct GuardScope {
  stats::Registry& registry;
  RuntimeSlots& slots;
  NameIds& clusters;
  std::shared_ptr<const WorkerCalls> calls;
};

// What stands behind guards.
enum class Guarded : uint8_t {
  Reader,
  // It hears of an end without bytes, and does not read before it has somewhere to send them.
  Relay,
  // It has answered before anything comes: nobody is asked of that.
  Deaf,
};

// Connections of a chain with such filters, in their order. `inner`: null: raw sockets.
Result<net::SharedTransport> guardConnections(const std::vector<plan::ConnectionGuard>& plans,
                                              net::SharedTransport inner, Guarded guarded,
                                              const GuardScope& scope);

}  // namespace fairlead::filters
