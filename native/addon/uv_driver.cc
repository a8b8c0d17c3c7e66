#include "addon/uv_driver.h"

#include <mutex>
#include <string>
#include <utility>

#include "base/check.h"

namespace fairlead::addon {

struct UvDriver::Handles {
  explicit Handles(UvDriver* driver) { poll.data = timer.data = prepare.data = driver; }

  // Those that libuv knows; it frees the whole with the last of them.
  void close() {
    for (int i = 0; i < open; ++i) {
      all[i]->data = this;
      uv_close(all[i], [](uv_handle_t* handle) {
        auto* own = static_cast<Handles*>(handle->data);
        if (--own->open == 0) delete own;
      });
    }
    if (open == 0) delete this;
  }

  uv_timer_t timer;
  uv_prepare_t prepare;
  uv_poll_t poll;
  uv_handle_t* const all[3] = {reinterpret_cast<uv_handle_t*>(&timer),
                               reinterpret_cast<uv_handle_t*>(&prepare),
                               reinterpret_cast<uv_handle_t*>(&poll)};
  int open = 0;
};

UvDriver::~UvDriver() {
  worker_.beginStop();
  join();
}

Result<void> UvDriver::start() {
  handles_ = new Handles(this);
  if (const int error = watch()) {
    std::exchange(handles_, nullptr)->close();
    return Error{std::string("its loop cannot watch for its events: ") + uv_strerror(error)};
  }
  thread_ = ::pthread_self();
  is_running_ = true;
  worker_.begin();
  return {};
}

int UvDriver::watch() {
  // Neither of these can fail.
  uv_timer_init(loop_, &handles_->timer);
  uv_prepare_init(loop_, &handles_->prepare);
  handles_->open = 2;
  if (const int error = uv_poll_init(loop_, &handles_->poll, worker_.descriptor())) return error;
  handles_->open = 3;
  uv_prepare_start(&handles_->prepare, [](uv_prepare_t* prepare) {
    static_cast<UvDriver*>(prepare->data)->onPrepare();
  });
  return uv_poll_start(&handles_->poll, UV_READABLE, [](uv_poll_t* poll, int status, int) {
    // It is an epoll, and open.
    FL_CHECK(status == 0);
    static_cast<UvDriver*>(poll->data)->turn();
  });
}

void UvDriver::onPrepare() {
  // The time of the loop is that of its latest events.
  uv_update_time(loop_);
  if (worker_.due() <= uv_now(loop_)) turn();
  if (handles_) setAlarm();
}

void UvDriver::turn() {
  if (!worker_.turn(budget_us_)) end();
}

void UvDriver::setAlarm() {
  const net::Millis due = worker_.due();
  if (due == alarm_ && uv_is_active(handles_->all[0])) return;
  alarm_ = due;
  const net::Millis now = uv_now(loop_);
  // Ends the loop's sleep; the rest is done in onPrepare().
  uv_timer_start(&handles_->timer, [](uv_timer_t*) {}, due > now ? due - now : 0, 0);
}

void UvDriver::end() {
  std::exchange(handles_, nullptr)->close();
  const std::lock_guard<Mutex> lock(mutex_);
  is_running_ = false;
  // Whoever waits may end this object at once, but not before it has the lock.
  ended_.notify_all();
}

void UvDriver::join() {
  // Of another thread's turns the handles are no business of this one.
  if (::pthread_equal(thread_, ::pthread_self()) && handles_) {
    while (worker_.waitAndTurn()) {
    }
    return end();
  }
  std::unique_lock<Mutex> lock(mutex_);
  ended_.wait(lock, [this] { return !is_running_; });
}

}  // namespace fairlead::addon
