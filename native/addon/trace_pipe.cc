#include "addon/trace_pipe.h"

namespace fairlead::addon {

void TracePipe::open(Napi::Env env, const Napi::Function& callback) {
  const std::lock_guard lock(mutex_);
  if (is_open_) return;
  function_ = Napi::ThreadSafeFunction::New(env, callback, "fairlead taps", 0, 1);
  // It does not keep the process alive.
  function_.Unref(env);
  is_open_ = true;
  // Runs before that of the function itself, which was added earlier.
  env.AddCleanupHook([pipe = shared_from_this()] { pipe->close(); });
}

void TracePipe::close() {
  const std::lock_guard lock(mutex_);
  if (!is_open_) return;
  is_open_ = false;
  function_.Release();
}

bool TracePipe::give(uint32_t of, uint64_t number, std::string bytes) {
  const std::lock_guard lock(mutex_);
  const size_t size = bytes.size();
  if (!is_open_ || waiting_bytes_ + size > kMaxWaitingBytes) return false;
  auto handed = std::make_unique<Trace>(Trace{shared_from_this(), of, number, std::move(bytes)});
  if (function_.NonBlockingCall(handed.get(), deliver) != napi_ok) return false;
  handed.release();
  waiting_bytes_ += size;
  return true;
}

void TracePipe::deliver(Napi::Env env, Napi::Function callback, Trace* trace) {
  const std::unique_ptr<Trace> taken(trace);
  taken->pipe->waiting_bytes_ -= taken->bytes.size();
  // Null while Node ends.
  if (!env || callback.IsEmpty()) return;
  callback.Call({Napi::Number::New(env, taken->tap), Napi::BigInt::New(env, taken->trace),
                 Napi::Buffer<char>::Copy(env, taken->bytes.data(), taken->bytes.size())});
}

}  // namespace fairlead::addon
