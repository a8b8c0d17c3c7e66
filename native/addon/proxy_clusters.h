// The part of the proxy object that tells about clusters. The control thread's.
#pragma once

#include <napi.h>

#include <memory>

#include "worker/data_plane.h"

namespace fairlead::addon {

class ProxyClusters {
 public:
  explicit ProxyClusters(std::shared_ptr<worker::DataPlane> data_plane)
      : data_plane_(std::move(data_plane)) {}

  // Absent: there is no such cluster.
  Napi::Value clusterHosts(const Napi::CallbackInfo& info);
  // Absent: there is no such cluster.
  Napi::Value clusterStatus(const Napi::CallbackInfo& info);
  Napi::Value openClusters(const Napi::CallbackInfo& info);

 private:
  std::shared_ptr<worker::DataPlane> data_plane_;
};

}  // namespace fairlead::addon
