// A call of the control thread that any thread may ask for. However often it is asked for before
// it comes, it comes once. Shared by the addon's object and the data plane.
#pragma once

#include <napi.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>

namespace fairlead::addon {

class ControlCall : public std::enable_shared_from_this<ControlCall> {
 public:
  // From here on `work` is called. Once; the control thread. What was asked for before comes, too.
  void open(Napi::Env env, std::function<void(Napi::Env env)> work);
  // The control thread. It is not called any more.
  void close();
  // Any thread.
  void ask();

 private:
  using Asked = std::shared_ptr<ControlCall>;

  static void deliver(Napi::Env env, Napi::Function, std::nullptr_t*, Asked* asked);
  using Function = Napi::TypedThreadSafeFunction<std::nullptr_t, Asked, deliver>;

  // Held while a thread asks, so that it is not closed under it.
  std::mutex mutex_;
  Function function_;
  bool is_open_ = false;
  std::atomic<bool> is_asked_{false};
  // The control thread's.
  std::function<void(Napi::Env env)> work_;
};

}  // namespace fairlead::addon
