#include "addon/ask_pipe.h"

namespace fairlead::addon {

void AskPipe::open(Napi::Env env, const Napi::Function& callback) {
  const std::lock_guard lock(mutex_);
  if (is_open_) return;
  function_ = Napi::ThreadSafeFunction::New(env, callback, "fairlead asks", 0, 1);
  // It does not keep the process alive.
  function_.Unref(env);
  is_open_ = true;
  // Runs before that of the function itself, which was added earlier.
  env.AddCleanupHook([pipe = shared_from_this()] { pipe->close(); });
}

void AskPipe::close() {
  const std::lock_guard lock(mutex_);
  if (!is_open_) return;
  is_open_ = false;
  function_.Release();
}

void AskPipe::ask(What what, uint32_t id, std::string bytes) {
  const std::lock_guard lock(mutex_);
  if (!is_open_) return;
  auto handed = std::make_unique<Asked>(Asked{what, id, std::move(bytes)});
  if (function_.NonBlockingCall(handed.get(), deliver) == napi_ok) handed.release();
}

void AskPipe::deliver(Napi::Env env, Napi::Function callback, Asked* asked) {
  const std::unique_ptr<Asked> taken(asked);
  // Null while Node ends.
  if (!env || callback.IsEmpty()) return;
  callback.Call({Napi::Number::New(env, static_cast<double>(taken->what)),
                 Napi::Number::New(env, taken->id),
                 Napi::Buffer<char>::Copy(env, taken->bytes.data(), taken->bytes.size())});
}

}  // namespace fairlead::addon
