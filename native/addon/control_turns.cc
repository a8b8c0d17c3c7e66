#include "addon/control_turns.h"

#include <mutex>
#include <utility>

namespace fairlead::addon {

std::shared_ptr<ControlTurns> ControlTurns::create(Napi::Env env) {
  std::shared_ptr<ControlTurns> turns(new ControlTurns);
  uv_loop_t* loop = nullptr;
  if (napi_get_uv_event_loop(env, &loop) != napi_ok) return turns;
  turns->prepare_ = new uv_prepare_t;
  uv_prepare_init(loop, turns->prepare_);
  turns->prepare_->data = turns.get();
  uv_prepare_start(turns->prepare_, [](uv_prepare_t* prepare) {
    auto* self = static_cast<ControlTurns*>(prepare->data);
    self->turns_.fetch_add(1, std::memory_order_relaxed);
  });
  // It does not keep the process alive.
  uv_unref(reinterpret_cast<uv_handle_t*>(turns->prepare_));
  env.AddCleanupHook([turns] { turns->close(); });
  return turns;
}

uint64_t ControlTurns::now() {
  const std::lock_guard lock(mutex_);
  if (!prepare_) return 0;
  // Node has its loop keep the time that it waits.
  return turns_.load(std::memory_order_relaxed) + uv_metrics_idle_time(prepare_->loop);
}

void ControlTurns::close() {
  uv_prepare_t* prepare = nullptr;
  {
    const std::lock_guard lock(mutex_);
    prepare = std::exchange(prepare_, nullptr);
  }
  if (!prepare) return;
  uv_close(reinterpret_cast<uv_handle_t*>(prepare),
           [](uv_handle_t* handle) { delete reinterpret_cast<uv_prepare_t*>(handle); });
}

}  // namespace fairlead::addon
