// How long a piece of a long answer may take, so that the control thread comes back to its other
// work, and leaves the processor to a worker, also where little is shown of much that is looked at.
#pragma once

#include <chrono>
#include <cstddef>

namespace fairlead::stats {

// Names are looked at in slices; between them the clock is read.
class Pace {
 public:
  // A piece ends after so many names, or so much time.
  static constexpr size_t kPieceNames = 20'000;
  static constexpr std::chrono::microseconds kPieceTime{45};

  // What is left of the slice. The reader counts it down, and pauses at 0.
  size_t budget = kSlice;

  // Another slice. False: the piece is to end here.
  bool goOn() {
    if (--slices_ == 0 || Clock::now() >= end_) return false;
    budget = kSlice;
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t kSlice = 200;

  size_t slices_ = kPieceNames / kSlice;
  const Clock::time_point end_ = Clock::now() + kPieceTime;
};

}  // namespace fairlead::stats
