// Tells whether the control thread's loop, Node's, comes round: for a watchdog, which asks from a
// thread of its own.
#pragma once

#include <napi.h>
#include <uv.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/mutex.h"

namespace fairlead::addon {

class ControlTurns {
 public:
  static std::shared_ptr<ControlTurns> create(Napi::Env env);
  ControlTurns(const ControlTurns&) = delete;
  ControlTurns& operator=(const ControlTurns&) = delete;
  ~ControlTurns() { close(); }

  // Any thread: another value with every turn of the loop, and while it waits for something to do.
  uint64_t now();
  // The control thread: there are no more turns.
  void close();

 private:
  ControlTurns() = default;

  std::atomic<uint64_t> turns_ = 1;
  Mutex mutex_;
  // libuv frees it once it has let go. Null: closed. Guarded by mutex_, for those who ask.
  uv_prepare_t* prepare_ = nullptr;
};

}  // namespace fairlead::addon
