// What every file of the edge to Node needs.
#pragma once

#include <napi.h>

#include <string>
#include <string_view>

namespace fairlead::addon {

inline Napi::Value fail(const Napi::Env& env, const std::string& message) {
  Napi::Error::New(env, message).ThrowAsJavaScriptException();
  return env.Undefined();
}

inline std::string_view bytesOf(const Napi::Value& value) {
  const auto array = value.As<Napi::Uint8Array>();
  return {reinterpret_cast<const char*>(array.Data()), array.ByteLength()};
}

}  // namespace fairlead::addon
