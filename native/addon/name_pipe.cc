#include "addon/name_pipe.h"

namespace fairlead::addon {

void NamePipe::open(Napi::Env env, const Napi::Function& callback) {
  const std::lock_guard lock(mutex_);
  if (is_open_) return;
  function_ = Napi::ThreadSafeFunction::New(env, callback, "fairlead names", 0, 1);
  // It does not keep the process alive.
  function_.Unref(env);
  is_open_ = true;
  // Runs before that of the function itself, which was added earlier.
  env.AddCleanupHook([pipe = shared_from_this()] { pipe->close(); });
}

void NamePipe::close() {
  const std::lock_guard lock(mutex_);
  if (!is_open_) return;
  is_open_ = false;
  function_.Release();
}

void NamePipe::onName(const std::string& cache, const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (!is_open_) return;
  auto handed = std::make_unique<Name>(Name{cache, name});
  if (function_.NonBlockingCall(handed.get(), deliver) == napi_ok) handed.release();
}

void NamePipe::deliver(Napi::Env env, Napi::Function callback, Name* name) {
  const std::unique_ptr<Name> taken(name);
  // Null while Node ends.
  if (!env || callback.IsEmpty()) return;
  callback.Call({Napi::String::New(env, taken->cache), Napi::String::New(env, taken->name)});
}

}  // namespace fairlead::addon
