#include "addon/page_object.h"

#include <string>

namespace fairlead::addon {

void PageObject::define(const Napi::Env& env) {
  const Napi::Function constructor =
      DefineClass(env, "Page", {InstanceMethod("next", &PageObject::next)});
  env.SetInstanceData(new Napi::FunctionReference(Napi::Persistent(constructor)));
}

Napi::Object PageObject::make(const Napi::Env& env, std::unique_ptr<stats::Page> page) {
  const Napi::Object object = env.GetInstanceData<Napi::FunctionReference>()->New({});
  Unwrap(object)->page_ = std::move(page);
  return object;
}

Napi::Value PageObject::next(const Napi::CallbackInfo& info) {
  if (!page_) return info.Env().Null();
  std::string piece;
  if (!page_->next(&piece)) page_.reset();
  return Napi::Buffer<char>::Copy(info.Env(), piece.data(), piece.size());
}

}  // namespace fairlead::addon
