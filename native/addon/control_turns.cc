#include "addon/control_turns.h"

#include <mutex>
#include <utility>

namespace fairlead::addon {

namespace {

using Times = stats::Dispatcher::Histogram;

uint64_t nowUs() { return uv_hrtime() / 1000; }

// It does not keep the process alive.
template <typename Handle>
void unref(Handle* handle) {
  uv_unref(reinterpret_cast<uv_handle_t*>(handle));
}

template <typename Handle>
void closeHandle(Handle* handle) {
  uv_close(reinterpret_cast<uv_handle_t*>(handle),
           [](uv_handle_t* closed) { delete reinterpret_cast<Handle*>(closed); });
}

}  // namespace

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
    if (self->times_) self->onPrepare();
  });
  unref(turns->prepare_);
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
  if (prepare) closeHandle(prepare);
  if (uv_check_t* const check = std::exchange(check_, nullptr)) closeHandle(check);
  times_.reset();
}

void ControlTurns::timeIn(std::shared_ptr<stats::Block<stats::Dispatcher>> times) {
  if (!prepare_ || times_) return;
  times_ = std::move(times);
  check_ = new uv_check_t;
  uv_check_init(prepare_->loop, check_);
  check_->data = this;
  uv_check_start(check_,
                 [](uv_check_t* check) { static_cast<ControlTurns*>(check->data)->onCheck(); });
  unref(check_);
}

void ControlTurns::onPrepare() {
  const uint64_t now_us = nowUs();
  if (polled_us_ > 0) times_->shard(0)->record(Times::LoopDurationUs, now_us - polled_us_);
  const int timeout_ms = uv_backend_timeout(prepare_->loop);
  due_us_ = timeout_ms < 0 ? 0 : now_us + static_cast<uint64_t>(timeout_ms) * 1000;
}

void ControlTurns::onCheck() {
  polled_us_ = nowUs();
  // Sooner, something came: that is no delay.
  if (due_us_ == 0 || polled_us_ < due_us_) return;
  times_->shard(0)->record(Times::PollDelayUs, polled_us_ - due_us_);
}

}  // namespace fairlead::addon
