// What Node loads; only this folder speaks N-API. It checks every argument (TypeScript has checked
// them before; a mistake here must throw, not crash), and translates. The control thread's.
#include <napi.h>

#include "addon/acceptor.h"
#include "addon/edge.h"
#include "addon/hot_restart.h"
#include "addon/listen_socket.h"
#include "addon/log_object.h"
#include "addon/page_object.h"
#include "addon/process_state.h"
#include "addon/proxy_object.h"
#include "coding/library.h"
#include "plan/plan.gen.h"
#include "tls/context.h"

namespace fairlead::addon {

namespace {

Napi::Value create(const Napi::CallbackInfo& info) {
  if (!info[0].IsObject()) return fail(info.Env(), "create() takes options");
  const Napi::Function constructor = ProxyObject::define(info.Env());
  return constructor.New({info[0]});
}

// What is wrong with the first context of an Update that OpenSSL does not take; undefined: nothing.
Napi::Value checkTls(const Napi::CallbackInfo& info) {
  if (!info[0].IsTypedArray()) return fail(info.Env(), "checkTls() takes a plan");
  const auto bytes = info[0].As<Napi::Uint8Array>();
  const Result<plan::Update> update = plan::readUpdate(bytes.Data(), bytes.ByteLength());
  if (!update) return Napi::String::New(info.Env(), update.error().message);
  for (const plan::TlsContext& context : update.value().tls_contexts) {
    const auto built = tls::Context::build(context, {});
    if (!built) return Napi::String::New(info.Env(), built.error().message);
  }
  return info.Env().Undefined();
}

// Whether the process has the library of a content coding.
Napi::Value hasCoding(const Napi::CallbackInfo& info) {
  if (!info[0].IsString()) return fail(info.Env(), "hasCoding() takes a name");
  const std::string name = info[0].As<Napi::String>();
  const bool has = name == "zstd" ? coding::zstd::library() != nullptr
                                  : name == "brotli" && coding::brotli::encoderLibrary() &&
                                        coding::brotli::decoderLibrary();
  return Napi::Boolean::New(info.Env(), has);
}

}  // namespace

Napi::Object load(Napi::Env env, Napi::Object exports) {
  exports.Set("enableCoreDump", Napi::Function::New(env, enableCoreDump));
  exports.Set("openListenSocket", Napi::Function::New(env, openListenSocket));
  exports.Set("acceptConnections", Napi::Function::New(env, acceptConnections));
  exports.Set("receivedBytes", Napi::Function::New(env, receivedBytes));
  exports.Set("duplicateDescriptor", Napi::Function::New(env, duplicateDescriptor));
  exports.Set("checkTls", Napi::Function::New(env, checkTls));
  exports.Set("hasCoding", Napi::Function::New(env, hasCoding));
  exports.Set("create", Napi::Function::New(env, create));
  exports.Set("log", makeLog(env));
  exportHotRestart(env, exports);
  PageObject::define(env);
  return exports;
}

}  // namespace fairlead::addon

// The macro makes names of the function's, so it wants a plain one.
static Napi::Object loadAddon(Napi::Env env, Napi::Object exports) {
  return fairlead::addon::load(env, exports);
}
NODE_API_MODULE(fairlead, loadAddon)
