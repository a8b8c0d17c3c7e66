#include "addon/control_call.h"

#include <utility>

namespace fairlead::addon {

void ControlCall::open(Napi::Env env, std::function<void(Napi::Env env)> work) {
  {
    const std::lock_guard lock(mutex_);
    if (is_open_) return;
    work_ = std::move(work);
    function_ = Function::New(env, "fairlead control call", 0, 1);
    // It does not keep the process alive.
    function_.Unref(env);
    is_open_ = true;
    // Runs before that of the function itself, which was added earlier.
    env.AddCleanupHook([call = shared_from_this()] { call->close(); });
  }
  if (is_asked_.exchange(false)) ask();
}

void ControlCall::close() {
  const std::lock_guard lock(mutex_);
  if (!is_open_) return;
  is_open_ = false;
  work_ = nullptr;
  function_.Release();
}

void ControlCall::ask() {
  if (is_asked_.exchange(true)) return;
  const std::lock_guard lock(mutex_);
  if (!is_open_) return;
  auto asked = std::make_unique<Asked>(shared_from_this());
  if (function_.NonBlockingCall(asked.get()) == napi_ok) asked.release();
}

void ControlCall::deliver(Napi::Env env, Napi::Function, std::nullptr_t*, Asked* asked) {
  const std::unique_ptr<Asked> taken(asked);
  ControlCall& call = **taken;
  call.is_asked_ = false;
  const std::function<void(Napi::Env)> work = call.work_;
  // Null while Node ends.
  if (env && work) work(env);
}

}  // namespace fairlead::addon
