// A worker on a libuv loop, between whatever else that loop does: Node's own, or that of a Node
// worker thread, so that what a request asks of JavaScript is asked without leaving its thread.
//
// The loop polls the descriptor of the worker's own events, sleeps no longer than until its next
// timer, and before it sleeps lets it do what others on this thread have left it to do. No turn
// takes much longer than the budget, and between two of them the loop serves others.
#pragma once

#include <pthread.h>
#include <uv.h>

#include <condition_variable>
#include <cstdint>

#include "base/mutex.h"
#include "worker/driver.h"

namespace fairlead::addon {

class UvDriver final : public worker::Driver {
 public:
  UvDriver(worker::Worker& worker, uv_loop_t* loop, uint64_t budget_us)
      : worker_(worker), loop_(loop), budget_us_(budget_us) {}
  UvDriver(const UvDriver&) = delete;
  UvDriver& operator=(const UvDriver&) = delete;
  ~UvDriver() override;

  // The loop's thread. Keeps the loop alive until the worker has ended.
  Result<void> start() override;
  // On the loop's thread: gives the worker all turns that it still needs.
  void join() override;

 private:
  struct Handles;

  // Returns one of libuv's errors.
  int watch();
  void onPrepare();
  void turn();
  // Sleeps no longer than until the worker's next timer.
  void setAlarm();
  void end();

  worker::Worker& worker_;
  uv_loop_t* const loop_;
  const uint64_t budget_us_;

  // The loop's, which has them a little longer than the driver; null: not started, or ended.
  Handles* handles_ = nullptr;
  pthread_t thread_ = {};
  // Of the timer.
  net::Millis alarm_ = net::kNever;

  Mutex mutex_;
  std::condition_variable_any ended_;
  // Guarded by mutex_.
  bool is_running_ = false;
};

}  // namespace fairlead::addon
