// The part of the proxy object that writes statistics for their sinks. The control thread's.
#pragma once

#include <napi.h>

#include <memory>

#include "worker/data_plane.h"
#include "worker/hystrix_events.h"
#include "worker/stats_sinks.h"

namespace fairlead::addon {

class ProxySinks {
 public:
  // `hystrix` is null when nobody wants its events.
  ProxySinks(std::shared_ptr<worker::DataPlane> data_plane,
             std::unique_ptr<worker::StatsSinks> sinks,
             std::unique_ptr<worker::HystrixEvents> hystrix)
      : data_plane_(std::move(data_plane)),
        sinks_(std::move(sinks)),
        hystrix_(std::move(hystrix)) {}

  void openFlush(const Napi::CallbackInfo& info);
  Napi::Value nextOfFlush(const Napi::CallbackInfo& info);
  Napi::Value takeSamples(const Napi::CallbackInfo& info);

  Napi::Value openHystrix(const Napi::CallbackInfo& info);
  void resetHystrix(const Napi::CallbackInfo& info);

 private:
  // Kept for the others, which read it, and for gauges that are made when somebody reads.
  std::shared_ptr<worker::DataPlane> data_plane_;
  std::unique_ptr<worker::StatsSinks> sinks_;
  std::unique_ptr<worker::HystrixEvents> hystrix_;
};

}  // namespace fairlead::addon
