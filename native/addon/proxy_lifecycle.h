// The part of the proxy object that configures the data plane, starts it, drains it and stops it.
// The control thread's.
#pragma once

#include <napi.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "addon/ask_pipe.h"
#include "addon/control_call.h"
#include "addon/control_timer.h"
#include "addon/control_turns.h"
#include "addon/name_pipe.h"
#include "addon/trace_pipe.h"
#include "worker/data_plane.h"

namespace fairlead::addon {

// What could not be applied, as a list of {kind, name, message}.
Napi::Value errorList(const Napi::Env& env, const std::vector<worker::ApplyError>& errors);

class ProxyLifecycle {
 public:
  // What comes of the workers.
  struct Pipes {
    // Of taps, and of access logs for services.
    std::shared_ptr<TracePipe> traces;
    std::shared_ptr<TracePipe> entries;
    // Of names that are to be looked up.
    std::shared_ptr<NamePipe> names;
    // Of what is asked of the control plane.
    std::shared_ptr<AskPipe> asks;
  };

  // `health`: asks for what has been found out of hosts' health, `timer` for what of it has to be
  // looked at when its time has come.
  ProxyLifecycle(std::shared_ptr<worker::DataPlane> data_plane, Pipes pipes,
                 std::shared_ptr<ControlCall> health, std::shared_ptr<ControlTimer> timer,
                 std::shared_ptr<ControlTurns> turns)
      : data_plane_(std::move(data_plane)),
        pipes_(std::move(pipes)),
        health_(std::move(health)),
        timer_(std::move(timer)),
        turns_(std::move(turns)) {}
  // Takes what has been found out of hosts' health, whenever there is something.
  void openHealth(Napi::Env env);

  Napi::Value apply(const Napi::CallbackInfo& info);
  Napi::Value listeners(const Napi::CallbackInfo& info);
  void announceListener(const Napi::CallbackInfo& info);
  void takeAnnouncementBack(const Napi::CallbackInfo& info);
  Napi::Value start(const Napi::CallbackInfo& info);

  void startDrain(const Napi::CallbackInfo& info);
  void cancelDrain(const Napi::CallbackInfo& info);
  void stopListening(const Napi::CallbackInfo& info);
  // Resolves once each host that is to be checked has been, or the proxy ends.
  Napi::Value awaitChecks(const Napi::CallbackInfo& info);
  // Of one cluster that waits, when all else has come: resolves after a round of checks of its
  // hosts, or when it is gone, or the proxy ends.
  Napi::Value awaitRound(const Napi::CallbackInfo& info);
  void setHealthCheckFailed(const Napi::CallbackInfo& info);

  void reopenLogs(const Napi::CallbackInfo& info);
  void logAdminRequest(const Napi::CallbackInfo& info);
  Napi::Value addConnection(const Napi::CallbackInfo& info);
  void removeConnection(const Napi::CallbackInfo& info);
  void onTrace(const Napi::CallbackInfo& info);
  void onName(const Napi::CallbackInfo& info);
  Napi::Value nameAge(const Napi::CallbackInfo& info);
  void onLogEntries(const Napi::CallbackInfo& info);
  void flushLogService(const Napi::CallbackInfo& info);
  void blockLogService(const Napi::CallbackInfo& info);
  void onAsk(const Napi::CallbackInfo& info);
  Napi::Value shutdown(const Napi::CallbackInfo& info);

 private:
  // Those who wait for first checks.
  using Waiting = std::vector<Napi::Promise::Deferred>;

  // Those who wait for the round of a cluster.
  using Rounds = std::vector<std::pair<std::string, Napi::Promise::Deferred>>;

  static void resolveAll(Napi::Env env, Waiting& waiting);
  // Of clusters that do not wait for it any more.
  static void resolveEnded(Napi::Env env, const worker::DataPlane& plane, Rounds& rounds);

  std::shared_ptr<worker::DataPlane> data_plane_;
  Pipes pipes_;
  std::shared_ptr<ControlCall> health_;
  std::shared_ptr<Waiting> waiting_ = std::make_shared<Waiting>();
  std::shared_ptr<Rounds> rounds_ = std::make_shared<Rounds>();
  std::shared_ptr<ControlTimer> timer_;
  std::shared_ptr<ControlTurns> turns_;
};

}  // namespace fairlead::addon
