// A descriptor that Node's loop watches for something to read, or its peer's end. It does not keep
// the process alive. Owned by a wrapped object; the control thread's.
#pragma once

#include <uv.h>

#include <functional>

namespace fairlead::addon {

class Readable {
 public:
  Readable() = default;
  Readable(const Readable&) = delete;
  Readable& operator=(const Readable&) = delete;
  ~Readable() { stop(); }

  // Calls `on_readable` whenever there is something, until stop(). False: the system refuses.
  bool start(uv_loop_t* loop, int fd, std::function<void()> on_readable) {
    poll_ = new uv_poll_t;
    poll_->data = this;
    on_readable_ = std::move(on_readable);
    if (uv_poll_init(loop, poll_, fd) != 0) {
      delete poll_;
      poll_ = nullptr;
      return false;
    }
    uv_unref(reinterpret_cast<uv_handle_t*>(poll_));
    return uv_poll_start(poll_, UV_READABLE | UV_DISCONNECT, [](uv_poll_t* poll, int, int) {
             static_cast<Readable*>(poll->data)->on_readable_();
           }) == 0;
  }
  // The descriptor may be closed afterwards.
  void stop() {
    if (!poll_) return;
    uv_poll_stop(poll_);
    // The loop still has it until it says otherwise.
    uv_close(reinterpret_cast<uv_handle_t*>(poll_),
             [](uv_handle_t* handle) { delete reinterpret_cast<uv_poll_t*>(handle); });
    poll_ = nullptr;
  }

 private:
  uv_poll_t* poll_ = nullptr;
  std::function<void()> on_readable_;
};

}  // namespace fairlead::addon
