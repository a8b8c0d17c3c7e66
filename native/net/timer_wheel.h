// Deadlines of one loop in a hierarchical wheel: 1 ms ticks, arm and disarm in O(1), no allocation.
// Owned by a Loop; one thread.
//
// Deadlines that move all the time (idle timeouts) are kept lazily by their owner: it stores the
// new deadline in a field and leaves the timer where it is; when the timer fires early, the owner
// looks at the field and arms it again. Moving an idle deadline is then one store.
#pragma once

#include <cstdint>

#include "base/list.h"

namespace fairlead::net {

// Milliseconds of the monotonic clock.
using Millis = uint64_t;
constexpr Millis kNever = UINT64_MAX;

class Timer : public ListNode<Timer> {
 public:
  // The deadline has come. The timer is not armed now, and may be armed again from here.
  virtual void onTimer() = 0;
  // Timeouts fall, or rise again (net/overload): whose deadline is one of those arms itself anew,
  // and does nothing else.
  virtual void onRescale() {}

  bool isArmed() const { return isLinked(); }
  // When it fires; meaningful while armed.
  Millis due() const { return due_; }
  void disarm() { unlink(); }

 protected:
  ~Timer() = default;

 private:
  friend class TimerWheel;
  Millis due_ = 0;
};

class TimerWheel {
 public:
  explicit TimerWheel(Millis now) : now_(now) {}

  // Fires at the first advance() to `due` or later; never earlier. Re-arms an armed timer.
  void arm(Timer* timer, Millis due);
  // The same, unless it fires by then anyhow.
  void armBy(Timer* timer, Millis due) {
    if (!timer->isArmed() || due < timer->due()) arm(timer, due);
  }
  // Moves to `now` and fires what is due, in order of tick.
  void advance(Millis now);
  // All that are armed hear onRescale(). Rare: it takes as long as there are timers.
  void rescale();
  // Milliseconds until something may have to be done, at most `limit`; 0 when something is due.
  Millis untilNext(Millis limit) const;

 private:
  static constexpr int kLevels = 4;
  static constexpr int kBits = 8;
  static constexpr int kSlots = 1 << kBits;

  void place(Timer* timer);
  void cascade(int level);
  void setBit(int level, int slot) { bits_[level][slot >> 6] |= uint64_t{1} << (slot & 63); }
  void clearBit(int level, int slot) { bits_[level][slot >> 6] &= ~(uint64_t{1} << (slot & 63)); }
  // Ticks from `from` to the first possibly used slot of a level, kSlots when there is none.
  int distance(int level, int from) const;

  Millis now_;
  // A bit may stay set after its slot was emptied by disarm(); advance() clears it.
  uint64_t bits_[kLevels][kSlots / 64] = {};
  List<Timer> slots_[kLevels][kSlots];
};

}  // namespace fairlead::net
