#include "net/timer_wheel.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace fairlead::net {

void TimerWheel::arm(Timer* timer, Millis due) {
  timer->unlink();
  timer->due_ = std::max(due, now_ + 1);
  place(timer);
}

// Level n holds what is due within 2^(8(n+1)) ms; what is due later waits in the last slot of the
// last level and is placed again from there.
void TimerWheel::place(Timer* timer) {
  const Millis due = std::max(timer->due_, now_ + 1);
  int level = 0;
  while (level < kLevels - 1 && ((due ^ now_) >> (kBits * (level + 1))) != 0) ++level;
  const Millis span = Millis{1} << (kBits * kLevels);
  const Millis at = due - now_ < span ? due : now_ + span - 1;
  const int slot = static_cast<int>((at >> (kBits * level)) & (kSlots - 1));
  slots_[level][slot].pushBack(timer);
  setBit(level, slot);
}

void TimerWheel::cascade(int level) {
  const int slot = static_cast<int>((now_ >> (kBits * level)) & (kSlots - 1));
  if (level + 1 < kLevels && slot == 0) cascade(level + 1);
  List<Timer> moving;
  slots_[level][slot].moveAllTo(moving);
  clearBit(level, slot);
  while (Timer* timer = moving.popFront()) {
    if (timer->due_ <= now_) {
      slots_[0][now_ & (kSlots - 1)].pushBack(timer);
      setBit(0, static_cast<int>(now_ & (kSlots - 1)));
    } else {
      place(timer);
    }
  }
}

void TimerWheel::rescale() {
  std::vector<Timer*> armed;
  for (auto& level : slots_) {
    for (List<Timer>& slot : level) {
      for (Timer* timer = slot.front(); timer; timer = slot.next(timer)) armed.push_back(timer);
    }
  }
  for (Timer* timer : armed) timer->onRescale();
}

void TimerWheel::advance(Millis now) {
  while (now_ < now) {
    // Whole stretches without timers are skipped, up to the next turn of the first level.
    const int from = static_cast<int>(now_ & (kSlots - 1));
    const Millis gap = static_cast<Millis>(std::min(distance(0, from + 1), kSlots - 1 - from));
    if (gap > 0) {
      now_ += std::min(gap, now - now_);
      if (now_ == now) break;
    }
    ++now_;
    const int slot = static_cast<int>(now_ & (kSlots - 1));
    if (slot == 0) cascade(1);
    List<Timer> due;
    slots_[0][slot].moveAllTo(due);
    clearBit(0, slot);
    while (Timer* timer = due.popFront()) timer->onTimer();
  }
}

int TimerWheel::distance(int level, int from) const {
  for (int slot = from; slot < kSlots;) {
    const uint64_t word = bits_[level][slot >> 6] >> (slot & 63);
    if (word != 0) return slot - from + std::countr_zero(word);
    slot = (slot | 63) + 1;
  }
  return kSlots;
}

Millis TimerWheel::untilNext(Millis limit) const {
  const int from = static_cast<int>(now_ & (kSlots - 1));
  const int ticks = distance(0, from + 1);
  if (ticks < kSlots) return std::min<Millis>(limit, static_cast<Millis>(ticks) + 1);
  // Nothing in this turn of the first level: wake up for the cascade only if a level above holds
  // something, and then no earlier than its slot.
  Millis best = limit;
  for (int level = 1; level < kLevels; ++level) {
    const int at = static_cast<int>((now_ >> (kBits * level)) & (kSlots - 1));
    int steps = distance(level, at + 1);
    if (steps == kSlots) {
      bool any = false;
      for (uint64_t word : bits_[level]) any |= word != 0;
      if (!any) continue;
      steps = kSlots - 1 - at;  // It lies beyond the wrap: look again then.
    }
    const Millis unit = Millis{1} << (kBits * level);
    const Millis start = ((now_ >> (kBits * level)) + static_cast<Millis>(steps) + 1) * unit;
    best = std::min(best, start - now_);
  }
  return best;
}

}  // namespace fairlead::net
