#include "addon/control_timer.h"

#include <utility>

#include "upstream/host.h"

namespace fairlead::addon {

std::shared_ptr<ControlTimer> ControlTimer::create(Napi::Env env, std::function<uint64_t()> work) {
  std::shared_ptr<ControlTimer> timer(new ControlTimer(std::move(work)));
  uv_loop_t* loop = nullptr;
  if (napi_get_uv_event_loop(env, &loop) != napi_ok) return timer;
  timer->timer_ = new uv_timer_t;
  uv_timer_init(loop, timer->timer_);
  timer->timer_->data = timer.get();
  // It does not keep the process alive.
  uv_unref(reinterpret_cast<uv_handle_t*>(timer->timer_));
  env.AddCleanupHook([timer] { timer->close(); });
  return timer;
}

void ControlTimer::wakeAt(uint64_t due_ms) {
  if (due_ms < due_ms_) arm(due_ms);
}

void ControlTimer::arm(uint64_t due_ms) {
  due_ms_ = due_ms;
  if (!timer_ || due_ms == kNever) return;
  const uint64_t now_ms = upstream::hostClockMs();
  uv_update_time(timer_->loop);
  uv_timer_start(
      timer_, [](uv_timer_t* timer) { static_cast<ControlTimer*>(timer->data)->onTimer(); },
      due_ms > now_ms ? due_ms - now_ms : 0, 0);
}

void ControlTimer::onTimer() {
  due_ms_ = kNever;
  wakeAt(work_());
}

void ControlTimer::close() {
  uv_timer_t* const timer = std::exchange(timer_, nullptr);
  if (!timer) return;
  uv_close(reinterpret_cast<uv_handle_t*>(timer),
           [](uv_handle_t* handle) { delete reinterpret_cast<uv_timer_t*>(handle); });
}

}  // namespace fairlead::addon
