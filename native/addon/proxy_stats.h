// The part of the proxy object that reads and changes statistics. The control thread's.
#pragma once

#include <napi.h>

#include <memory>
#include <optional>
#include <unordered_set>

#include "stats/registry.h"
#include "worker/data_plane.h"

namespace fairlead::addon {

class ProxyStats {
 public:
  explicit ProxyStats(std::shared_ptr<worker::DataPlane> data_plane)
      : data_plane_(std::move(data_plane)) {}

  Napi::Value stat(const Napi::CallbackInfo& info);
  void counterAdd(const Napi::CallbackInfo& info);
  void gaugeSet(const Napi::CallbackInfo& info);
  void histogramRecord(const Napi::CallbackInfo& info);
  void gaugeSetHash(const Napi::CallbackInfo& info);
  void textSet(const Napi::CallbackInfo& info);

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
  std::unordered_set<StatId> ids_;
};

}  // namespace fairlead::addon
