// For what may go wrong thousands of times a second, always for the same reason: one line of it in
// a second is enough. One thread's.
#pragma once

#include <chrono>

namespace fairlead::log {

class Seldom {
 public:
  // True at first, and then once a second at most.
  bool isDue() {
    const Clock::time_point now = Clock::now();
    if (now < next_) return false;
    next_ = now + std::chrono::seconds(1);
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point next_ = Clock::time_point::min();
};

}  // namespace fairlead::log
