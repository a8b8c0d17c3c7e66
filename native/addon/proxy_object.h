// The proxy as JavaScript has it: one object, whose methods are those of its parts. The control
// thread's; owned by Node's collector.
#pragma once

#include <napi.h>

#include <memory>
#include <tuple>
#include <type_traits>

#include "addon/proxy_clusters.h"
#include "addon/proxy_cpu_profile.h"
#include "addon/proxy_hot_restart.h"
#include "addon/proxy_lifecycle.h"
#include "addon/proxy_sinks.h"
#include "addon/proxy_spans.h"
#include "addon/proxy_stats.h"

namespace fairlead::addon {

class ProxyObject final : public Napi::ObjectWrap<ProxyObject> {
 public:
  static Napi::Function define(const Napi::Env& env);

  // (options). Throws for what it cannot make a proxy of; no method is called then.
  explicit ProxyObject(const Napi::CallbackInfo& info);

 private:
  template <typename Part>
  void add(Part part) {
    std::get<std::unique_ptr<Part>>(parts_) = std::make_unique<Part>(std::move(part));
  }
  template <typename Part, typename Answer>
  Napi::Value ask(Answer (Part::*method)(const Napi::CallbackInfo&),
                  const Napi::CallbackInfo& info) {
    Part& part = *std::get<std::unique_ptr<Part>>(parts_);
    if constexpr (std::is_void_v<Answer>) {
      (part.*method)(info);
      return info.Env().Undefined();
    } else {
      return (part.*method)(info);
    }
  }
  template <auto kMethod>
  Napi::Value call(const Napi::CallbackInfo& info) {
    return ask(kMethod, info);
  }
  // A method of a part, under `name`.
  template <auto kMethod>
  static PropertyDescriptor method(const char* name) {
    return InstanceMethod<&ProxyObject::call<kMethod>>(name);
  }

  Napi::Value shutdown(const Napi::CallbackInfo& info);
  Napi::Value memory(const Napi::CallbackInfo& info);
  Napi::Value contention(const Napi::CallbackInfo& info);

  std::tuple<std::unique_ptr<ProxyLifecycle>, std::unique_ptr<ProxyClusters>,
             std::unique_ptr<ProxyStats>, std::unique_ptr<ProxySinks>, std::unique_ptr<ProxySpans>,
             std::unique_ptr<ProxyCpuProfile>, std::unique_ptr<ProxyHotRestart>>
      parts_;
};

}  // namespace fairlead::addon
