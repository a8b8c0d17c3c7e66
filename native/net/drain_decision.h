// Whether the connections of one listener should end with their next answer. Shared by the
// listener's workers, which read it with every answer: one plain load while nothing drains. Written
// by the control thread.
#pragma once

#include <atomic>

#include "base/random.h"
#include "net/timer_wheel.h"

namespace fairlead::net {

// From `since` on, more and more answers ask for an end; after `full_after_s` seconds all do.
struct DrainRamp {
  Millis since = kNever;
  uint32_t full_after_s = 0;
  // What the whole of it may take; 0: it is not said.
  uint32_t lasts_s = 0;

  bool isDraining() const { return since != kNever; }
  Millis fullAt() const { return isDraining() ? since + Millis{full_after_s} * 1000 : kNever; }
  friend bool operator==(const DrainRamp&, const DrainRamp&) = default;
};

// The one that asks all connections to end first.
inline DrainRamp soonerOf(const DrainRamp& one, const DrainRamp& other) {
  return other.fullAt() < one.fullAt() ? other : one;
}

class DrainDecision {
 public:
  // The control thread.
  void set(const DrainRamp& ramp) {
    full_after_s_.store(ramp.full_after_s, std::memory_order_relaxed);
    lasts_s_.store(ramp.lasts_s, std::memory_order_relaxed);
    since_.store(ramp.since, std::memory_order_release);
  }

  bool isDraining() const { return since_.load(std::memory_order_relaxed) != kNever; }
  // The answer that is made now should be its connection's last.
  bool shouldClose(Millis now, Random& random) const {
    const Millis since = since_.load(std::memory_order_acquire);
    return since != kNever && isChosen(since, now, random);
  }

  // When a client that asks nothing is told, if it can be: the real server does so late in the
  // drain, to each at a time of its own, but to most of them soon after seven tenths of it (seen,
  // not documented). kNever: not at all.
  Millis toldAt(Random& random) const {
    const Millis since = since_.load(std::memory_order_acquire);
    const uint64_t lasts_ms = uint64_t{lasts_s_.load(std::memory_order_relaxed)} * 1000;
    if (since == kNever || lasts_ms == 0) return kNever;
    return since + lasts_ms * 7 / 10 + random.below(random.below(random.below(lasts_ms / 5)));
  }

 private:
  // The chance grows with every whole second, as the real server's does.
  bool isChosen(Millis since, Millis now, Random& random) const {
    const uint64_t full_after_s = full_after_s_.load(std::memory_order_relaxed);
    const uint64_t elapsed_s = now > since ? (now - since) / 1000 : 0;
    return elapsed_s >= full_after_s || random.below(full_after_s) < elapsed_s;
  }

  std::atomic<Millis> since_{kNever};
  std::atomic<uint32_t> full_after_s_{0};
  std::atomic<uint32_t> lasts_s_{0};
};

}  // namespace fairlead::net
