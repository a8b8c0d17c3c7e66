#include "addon/proxy_spans.h"

#include <string>

#include "addon/edge.h"

namespace fairlead::addon {

void ProxySpans::onSpans(const Napi::CallbackInfo& info) {
  if (!info[0].IsFunction()) {
    fail(info.Env(), "onSpans() takes a function");
    return;
  }
  const auto callback =
      std::make_shared<Napi::FunctionReference>(Napi::Persistent(info[0].As<Napi::Function>()));
  asked_->open(info.Env(), [callback](Napi::Env env) {
    const Napi::HandleScope scope(env);
    callback->Call({});
  });
}

Napi::Value ProxySpans::takeSpans(const Napi::CallbackInfo& info) {
  const std::string taken = data_plane_->takeSpans();
  return Napi::Buffer<char>::Copy(info.Env(), taken.data(), taken.size());
}

Napi::Value ProxySpans::droppedSpans(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(data_plane_->droppedSpans()));
}

}  // namespace fairlead::addon
