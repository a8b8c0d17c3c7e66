// Keeps lines of two processes apart where the kernel does not: a line longer than PIPE_BUF goes
// into a pipe in several writes. Files need no lock: each write appends whole lines.
#pragma once

#include <atomic>
#include <string_view>

namespace fairlead {

class LineLock {
 public:
  // False: it was not free for a while, and is not held.
  virtual bool lock() = 0;
  virtual void unlock() = 0;

 protected:
  ~LineLock() = default;
};

// Null: no other process writes to the same places. Set once, by the control thread, for ever.
inline std::atomic<LineLock*> log_lines{nullptr};
inline std::atomic<LineLock*> access_log_lines{nullptr};

// One writer's hold on a lock: from the first part of a line to its last. Where the lock cannot be
// had the line is written all the same.
class LineGuard {
 public:
  explicit LineGuard(const std::atomic<LineLock*>& lines) : lines_(lines) {}
  LineGuard(const LineGuard&) = delete;
  LineGuard& operator=(const LineGuard&) = delete;
  ~LineGuard() { release(); }

  // Before a write of `piece`, which may be all of some lines, or a part of one.
  void begin(std::string_view piece) {
    if (held_ || piece.ends_with('\n')) return;
    LineLock* lock = lines_.load(std::memory_order_acquire);
    if (lock && lock->lock()) held_ = lock;
  }
  // After it: what was written.
  void wrote(std::string_view written) {
    if (written.ends_with('\n')) release();
  }

 private:
  void release() {
    if (held_) held_->unlock();
    held_ = nullptr;
  }

  const std::atomic<LineLock*>& lines_;
  LineLock* held_ = nullptr;
};

}  // namespace fairlead
