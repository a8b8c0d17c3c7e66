// Tells whether the control thread's loop, Node's, comes round: for a watchdog, which asks from a
// thread of its own. Records how long its turns take, where that is wanted.
#pragma once

#include <napi.h>
#include <uv.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/mutex.h"
#include "stats/block.h"
#include "stats/catalogue.gen.h"

namespace fairlead::addon {

class ControlTurns {
 public:
  static std::shared_ptr<ControlTurns> create(Napi::Env env);
  ControlTurns(const ControlTurns&) = delete;
  ControlTurns& operator=(const ControlTurns&) = delete;
  ~ControlTurns() { close(); }

  // Any thread: another value with every turn of the loop, and while it waits for something to do.
  uint64_t now();
  // The control thread, once: turns from here on are recorded there.
  void timeIn(std::shared_ptr<stats::Block<stats::Dispatcher>> times);
  // The control thread: there are no more turns.
  void close();

 private:
  ControlTurns() = default;
  void onPrepare();
  void onCheck();

  std::atomic<uint64_t> turns_ = 1;
  Mutex mutex_;
  // libuv frees it once it has let go. Null: closed. Guarded by mutex_, for those who ask.
  uv_prepare_t* prepare_ = nullptr;

  // ---- the control thread's ----
  // Null: turns are not recorded.
  std::shared_ptr<stats::Block<stats::Dispatcher>> times_;
  // As prepare_.
  uv_check_t* check_ = nullptr;
  // When the loop came back from waiting, 0: it has not yet; when it wanted to, 0: whenever.
  uint64_t polled_us_ = 0;
  uint64_t due_us_ = 0;
};

}  // namespace fairlead::addon
