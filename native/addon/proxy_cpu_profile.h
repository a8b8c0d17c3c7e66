// The part of the proxy object that samples what the workers run. The control thread's.
#pragma once

#include <napi.h>

#include <memory>

#include "worker/data_plane.h"

namespace fairlead::addon {

class ProxyCpuProfile {
 public:
  explicit ProxyCpuProfile(std::shared_ptr<worker::DataPlane> data_plane)
      : data_plane_(std::move(data_plane)) {}

  Napi::Value startCpuProfile(const Napi::CallbackInfo& info);
  // A list of worker, number of addresses, addresses.
  Napi::Value readCpuProfile(const Napi::CallbackInfo& info);
  Napi::Value stopCpuProfile(const Napi::CallbackInfo& info);

  // Before the workers end.
  void cancel() { cpu_profile_.reset(); }

 private:
  std::shared_ptr<worker::DataPlane> data_plane_;
  // While one runs.
  std::unique_ptr<worker::CpuProfile> cpu_profile_;
};

}  // namespace fairlead::addon
