// The part of the proxy object that reads and changes statistics. The control thread's.
#pragma once

#include <napi.h>

#include <memory>
#include <optional>

#include "stats/registry.h"
#include "worker/data_plane.h"

namespace fairlead::addon {

class ProxyStats {
 public:
  explicit ProxyStats(std::shared_ptr<worker::DataPlane> data_plane)
      : data_plane_(std::move(data_plane)) {}

  Napi::Value stat(const Napi::CallbackInfo& info);
  // False: the statistic is gone, with its scope.
  Napi::Value counterAdd(const Napi::CallbackInfo& info);
  Napi::Value gaugeSet(const Napi::CallbackInfo& info);
  Napi::Value addTo(const Napi::CallbackInfo& info);
  void tellUpdate(const Napi::CallbackInfo& info);
  Napi::Value histogramRecord(const Napi::CallbackInfo& info);
  Napi::Value textSet(const Napi::CallbackInfo& info);
  Napi::Value isStat(const Napi::CallbackInfo& info);

  Napi::Value statValue(const Napi::CallbackInfo& info);
  void flushHistograms(const Napi::CallbackInfo& info);
  void resetCounters(const Napi::CallbackInfo& info);
  Napi::Value lostSamples(const Napi::CallbackInfo& info);
  Napi::Value openStats(const Napi::CallbackInfo& info);

 private:
  using StatId = stats::Registry::StatId;

  // The handle that a call names; throws for what stat() never gave.
  std::optional<StatId> idOf(const Napi::CallbackInfo& info);

  std::shared_ptr<worker::DataPlane> data_plane_;
};

}  // namespace fairlead::addon
