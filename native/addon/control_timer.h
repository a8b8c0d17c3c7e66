// Has the control thread do something when its time has come, without JavaScript. Shared by the
// addon's object and whoever ends it; the control thread's.
#pragma once

#include <napi.h>
#include <uv.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace fairlead::addon {

class ControlTimer {
 public:
  // `work`: says when it wants to be called again, in milliseconds of upstream::hostClockMs();
  // UINT64_MAX: never.
  static std::shared_ptr<ControlTimer> create(Napi::Env env, std::function<uint64_t()> work);
  ControlTimer(const ControlTimer&) = delete;
  ControlTimer& operator=(const ControlTimer&) = delete;
  ~ControlTimer() { close(); }

  // Calls it then, if that is sooner than before.
  void wakeAt(uint64_t due_ms);
  // It is not called any more.
  void close();

 private:
  static constexpr uint64_t kNever = UINT64_MAX;

  explicit ControlTimer(std::function<uint64_t()> work) : work_(std::move(work)) {}

  void arm(uint64_t due_ms);
  void onTimer();

  const std::function<uint64_t()> work_;
  // libuv frees it once it has let go. Null: closed.
  uv_timer_t* timer_ = nullptr;
  uint64_t due_ms_ = kNever;
};

}  // namespace fairlead::addon
