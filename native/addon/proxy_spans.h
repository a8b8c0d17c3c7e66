// The part of the proxy object that hands over finished spans (tracing/spans.h). The control
// thread's.
#pragma once

#include <napi.h>

#include <memory>

#include "addon/control_call.h"
#include "worker/data_plane.h"

namespace fairlead::addon {

class ProxySpans {
 public:
  // `asked`: what workers ask once they have told of a span.
  ProxySpans(std::shared_ptr<worker::DataPlane> data_plane, std::shared_ptr<ControlCall> asked)
      : data_plane_(std::move(data_plane)), asked_(std::move(asked)) {}

  // (callback): called from here on when there is something to take. Once.
  void onSpans(const Napi::CallbackInfo& info);
  // All that was traced since the last time: a buffer, as tracing/record.h has it.
  Napi::Value takeSpans(const Napi::CallbackInfo& info);
  // How many were lost since the beginning, because nobody took them in time.
  Napi::Value droppedSpans(const Napi::CallbackInfo& info);

 private:
  std::shared_ptr<worker::DataPlane> data_plane_;
  std::shared_ptr<ControlCall> asked_;
};

}  // namespace fairlead::addon
