// The part of the proxy object that hands listen sockets and statistics from a process to its
// successor. The control thread's.
#pragma once

#include <napi.h>

#include <memory>

#include "hot_restart/stats_transfer.h"
#include "worker/data_plane.h"

namespace fairlead::addon {

class ProxyHotRestart {
 public:
  explicit ProxyHotRestart(std::shared_ptr<worker::DataPlane> data_plane)
      : data_plane_(std::move(data_plane)) {}

  Napi::Value openConnections(const Napi::CallbackInfo& info);
  // inherit([{listener, address, anyPort, fd}]): the descriptors are this object's from here on.
  void inherit(const Napi::CallbackInfo& info);
  Napi::Value endInheritance(const Napi::CallbackInfo& info);
  void importStats(const Napi::CallbackInfo& info);
  void endImports(const Napi::CallbackInfo& info);

  // The descriptors stay the data plane's: they are good until listeners change.
  Napi::Value listenSockets(const Napi::CallbackInfo& info);
  // Resolves once no worker takes connections any more.
  Napi::Value handOver(const Napi::CallbackInfo& info);
  Napi::Value takeBack(const Napi::CallbackInfo& info);
  // exportStats(maxBytes): {batch, more}
  Napi::Value exportStats(const Napi::CallbackInfo& info);
  // beginExport(knowsCounters): another successor asks.
  void beginExport(const Napi::CallbackInfo& info);

 private:
  std::shared_ptr<worker::DataPlane> data_plane_;
  // While a successor asks.
  std::unique_ptr<hot_restart::StatsExport> export_;
};

}  // namespace fairlead::addon
