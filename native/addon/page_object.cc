#include "addon/page_object.h"

#include <string>

namespace fairlead::addon {

Napi::Object PageObject::make(const Napi::Env& env, std::unique_ptr<stats::Page> page) {
  const Napi::Function constructor =
      DefineClass(env, "Page", {InstanceMethod("next", &PageObject::next)});
  const Napi::Object object = constructor.New({});
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
