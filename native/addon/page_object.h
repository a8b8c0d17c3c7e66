// A long answer, handed out piece by piece: next() gives a piece, or null after the last. The
// control thread's.
#pragma once

#include <napi.h>

#include <memory>

#include "stats/query.h"

namespace fairlead::addon {

class PageObject final : public Napi::ObjectWrap<PageObject> {
 public:
  // Before the first is made: V8 keeps what it makes of each definition of a class for as long as
  // the process lives, so that there is one for all pages.
  static void define(const Napi::Env& env);
  static Napi::Object make(const Napi::Env& env, std::unique_ptr<stats::Page> page);
  explicit PageObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {}

 private:
  Napi::Value next(const Napi::CallbackInfo& info);

  std::unique_ptr<stats::Page> page_;
};

}  // namespace fairlead::addon
