#include "addon/log_object.h"

#include <chrono>
#include <string>
#include <vector>

#include "log/crash.h"
#include "log/log.h"
#include "log/sink.h"

namespace fairlead::addon {

namespace {

using log::Component;
using log::Level;

Napi::Value fail(const Napi::Env& env, const char* message) {
  Napi::TypeError::New(env, message).ThrowAsJavaScriptException();
  return env.Undefined();
}

// Levels and components travel as their places in their lists.
std::optional<Level> levelOf(const Napi::Value& value) {
  const uint32_t index = value.ToNumber().Uint32Value();
  if (index >= log::kLevelNames.size()) return std::nullopt;
  return static_cast<Level>(index);
}

std::optional<Component> componentOf(const Napi::Value& value) {
  const uint32_t index = value.ToNumber().Uint32Value();
  if (index >= log::kComponents) return std::nullopt;
  return static_cast<Component>(index);
}

// setLevel(component, level)
Napi::Value setLevel(const Napi::CallbackInfo& info) {
  const auto component = componentOf(info[0]);
  const auto level = levelOf(info[1]);
  if (!component || !level) return fail(info.Env(), "setLevel() takes a component and a level");
  log::setLevel(*component, *level);
  return info.Env().Undefined();
}

// write(component, level, file, line, function, message)
Napi::Value write(const Napi::CallbackInfo& info) {
  const auto component = componentOf(info[0]);
  const auto level = levelOf(info[1]);
  if (!component || !level) return fail(info.Env(), "write() takes a component and a level");
  const std::string file = info[2].ToString();
  const std::string function = info[4].ToString();
  const std::string message = info[5].ToString();
  const uint32_t line = info[3].ToNumber().Uint32Value();
  log::write(*component, *level, {file, line, function}, message);
  return info.Env().Undefined();
}

// setPattern(pattern, escapes)
void setPattern(const Napi::CallbackInfo& info) {
  log::Sink::get().setPattern(info[0].ToString(), info[1].ToBoolean());
}

// openFile(path): what is wrong, or an empty text.
Napi::Value openFile(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), log::Sink::get().openFile(info[0].ToString()));
}

void reopen(const Napi::CallbackInfo&) { log::Sink::get().reopen(); }

// flush(milliseconds): whether all is written.
Napi::Value flush(const Napi::CallbackInfo& info) {
  const std::chrono::milliseconds limit(info[0].ToNumber().Uint32Value());
  return Napi::Boolean::New(info.Env(), log::Sink::get().flush(limit));
}

// The levels per file, once they were asked for. The control thread's.
log::FileLevels* file_levels = nullptr;

// setFileLevel(level): of all files.
Napi::Value setFileLevel(const Napi::CallbackInfo& info) {
  const auto level = levelOf(info[0]);
  if (!level) return fail(info.Env(), "setFileLevel() takes a level");
  file_levels = &log::enableFineGrain(*level);
  return info.Env().Undefined();
}

// setFileRules([[glob, level], …])
Napi::Value setFileRules(const Napi::CallbackInfo& info) {
  const Napi::Array pairs = info[0].As<Napi::Array>();
  std::vector<log::FileLevels::Rule> rules;
  for (uint32_t i = 0; i < pairs.Length(); ++i) {
    const Napi::Array pair = pairs.Get(i).As<Napi::Array>();
    const auto level = levelOf(pair.Get(1u));
    if (!level) return fail(info.Env(), "setFileRules() takes pairs of a glob and a level");
    rules.push_back({pair.Get(0u).ToString(), *level});
  }
  if (file_levels != nullptr) file_levels->setRules(std::move(rules));
  return info.Env().Undefined();
}

// fileLevels(): [[path, level], …]
Napi::Value fileLevels(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Napi::Array result = Napi::Array::New(env);
  if (file_levels == nullptr) return result;
  for (const auto& [file, level] : file_levels->list()) {
    const Napi::Array pair = Napi::Array::New(env, 2);
    pair.Set(0u, file);
    pair.Set(1u, static_cast<uint32_t>(level));
    result.Set(result.Length(), pair);
  }
  return result;
}

void installCrashHandlers(const Napi::CallbackInfo&) { log::installCrashHandlers(); }

}  // namespace

Napi::Object makeLog(Napi::Env env) {
  const Napi::Object object = Napi::Object::New(env);
  const auto set = [&](const char* name, auto function) {
    object.Set(name, Napi::Function::New(env, function, name));
  };
  const Napi::Array components = Napi::Array::New(env, log::kComponents);
  for (uint32_t i = 0; i < log::kComponents; ++i) {
    components.Set(i, std::string(log::kComponentNames[i]));
  }
  object.Set("components", components);
  set("setLevel", setLevel);
  set("write", write);
  set("setPattern", setPattern);
  set("openFile", openFile);
  set("reopen", reopen);
  set("flush", flush);
  set("setFileLevel", setFileLevel);
  set("setFileRules", setFileRules);
  set("fileLevels", fileLevels);
  set("installCrashHandlers", installCrashHandlers);
  return object;
}

}  // namespace fairlead::addon
