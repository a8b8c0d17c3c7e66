// The part of the proxy object that configures the data plane, starts it, drains it and stops it.
// The control thread's.
#pragma once

#include <napi.h>

#include <memory>
#include <vector>

#include "addon/trace_pipe.h"
#include "worker/data_plane.h"

namespace fairlead::addon {

// What could not be applied, as a list of {kind, name, message}.
Napi::Value errorList(const Napi::Env& env, const std::vector<worker::ApplyError>& errors);

class ProxyLifecycle {
 public:
  ProxyLifecycle(std::shared_ptr<worker::DataPlane> data_plane, std::shared_ptr<TracePipe> traces)
      : data_plane_(std::move(data_plane)), traces_(std::move(traces)) {}

  Napi::Value apply(const Napi::CallbackInfo& info);
  Napi::Value listeners(const Napi::CallbackInfo& info);
  Napi::Value start(const Napi::CallbackInfo& info);

  void startDrain(const Napi::CallbackInfo& info);
  void cancelDrain(const Napi::CallbackInfo& info);
  void stopListening(const Napi::CallbackInfo& info);
  void setHealthCheckFailed(const Napi::CallbackInfo& info);

  void reopenLogs(const Napi::CallbackInfo& info);
  void logAdminRequest(const Napi::CallbackInfo& info);
  Napi::Value addConnection(const Napi::CallbackInfo& info);
  void removeConnection(const Napi::CallbackInfo& info);
  void onTrace(const Napi::CallbackInfo& info);
  Napi::Value shutdown(const Napi::CallbackInfo& info);

 private:
  std::shared_ptr<worker::DataPlane> data_plane_;
  std::shared_ptr<TracePipe> traces_;
};

}  // namespace fairlead::addon
