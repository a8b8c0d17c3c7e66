#include "addon/listen_socket.h"

#include <cstring>
#include <string>
#include <vector>

#include "addon/edge.h"
#include "net/listener.h"
#include "net/socket_options.h"

namespace fairlead::addon {

namespace {

constexpr uint32_t kStates = 3;

net::Address readAddress(const std::string& text) {
  net::Address address;
  if (net::parseIp(text, &address)) return address;
  plan::Address pipe;
  pipe.pipe = text;
  return net::Address::fromPlan(pipe);
}

// False: it is none.
bool readOption(const Napi::Value& value, net::SocketOption* out) {
  if (!value.IsObject()) return false;
  const auto object = value.As<Napi::Object>();
  const Napi::Value level = object.Get("level");
  const Napi::Value name = object.Get("name");
  const Napi::Value state = object.Get("state");
  const Napi::Value bytes = object.Get("value");
  if (!level.IsNumber() || !name.IsNumber() || !state.IsNumber() || !bytes.IsTypedArray())
    return false;
  const uint32_t number = state.As<Napi::Number>().Uint32Value();
  if (number >= kStates) return false;
  out->level = level.As<Napi::Number>().Int32Value();
  out->name = name.As<Napi::Number>().Int32Value();
  out->state = static_cast<net::SocketState>(number);
  out->value = bytesOf(bytes);
  return true;
}

}  // namespace

Napi::Value openListenSocket(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsString() || !info[1].IsNumber() || !info[2].IsArray())
    return fail(env, "openListenSocket() takes an address, a mode and options");
  const auto list = info[2].As<Napi::Array>();
  std::vector<net::SocketOption> options(list.Length());
  for (uint32_t i = 0; i < list.Length(); ++i) {
    if (!readOption(list.Get(i), &options[i])) return fail(env, "that is no socket option");
  }
  net::OpenedSocket opened =
      net::openListenSocket(readAddress(info[0].As<Napi::String>().Utf8Value()),
                            info[1].As<Napi::Number>().Uint32Value(), options);
  const Napi::Array failures = Napi::Array::New(env, opened.failures.size());
  for (uint32_t i = 0; i < opened.failures.size(); ++i) {
    const Napi::Object failure = Napi::Object::New(env);
    failure.Set("option", Napi::Number::New(env, static_cast<double>(opened.failures[i].option)));
    failure.Set("why", Napi::String::New(env, std::strerror(opened.failures[i].error)));
    failures.Set(i, failure);
  }
  const Napi::Object result = Napi::Object::New(env);
  const std::string bound = opened.fd.valid() ? net::boundAddress(opened.fd.get()).text() : "";
  result.Set("address", Napi::String::New(env, bound));
  result.Set("fd", Napi::Number::New(env, opened.fd.release()));
  result.Set("error", Napi::String::New(env, opened.error));
  result.Set("failures", failures);
  return result;
}

}  // namespace fairlead::addon
