// A thread of our own, which the system may refuse. Signals are left to the control thread.
#pragma once

#include <pthread.h>

#include <functional>

namespace fairlead {

class Thread {
 public:
  Thread() = default;
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;
  ~Thread() { join(); }

  // Runs `body` on a new thread, once. Returns errno, 0 for success.
  int start(std::function<void()> body);
  // It was started, and has not been waited for.
  bool isJoinable() const { return joinable_; }
  // Waits for its end, if it was started.
  void join();
  // It ends by itself, and nobody waits for it.
  void detach();

 private:
  pthread_t thread_ = {};
  bool joinable_ = false;
};

}  // namespace fairlead
