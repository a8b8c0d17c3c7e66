// Bytes that may pass, as they come at a steady rate: a second's worth at most, and at first. Any
// thread, without a lock: all there is to it is the time at which it would have been empty.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace fairlead::filters {

class ByteBucket {
 public:
  // `now_us`: of a clock that never goes back.
  ByteBucket(uint64_t bytes_per_second, uint64_t now_us)
      : rate_(std::max<uint64_t>(bytes_per_second, 1)),
        empty_at_ns_(static_cast<int64_t>(now_us * 1000) - kSecondNs) {}

  // Takes as many of them as there are.
  uint64_t take(uint64_t wanted, uint64_t now_us) {
    const auto now = static_cast<int64_t>(now_us * 1000);
    int64_t empty_at = empty_at_ns_.load(std::memory_order_relaxed);
    for (;;) {
      const int64_t from = std::clamp(empty_at, now - kSecondNs, now);
      const uint64_t taken =
          std::min(wanted, scaled(static_cast<uint64_t>(now - from), rate_, kSecondNs));
      if (taken == 0) return 0;
      // Up, so that nobody gains by taking little.
      const auto then = from + static_cast<int64_t>(scaled(taken, kSecondNs, rate_, rate_ - 1));
      if (empty_at_ns_.compare_exchange_weak(empty_at, then, std::memory_order_relaxed)) {
        return taken;
      }
    }
  }

 private:
  static constexpr int64_t kSecondNs = 1'000'000'000;

  static uint64_t scaled(uint64_t value, uint64_t by, uint64_t of, uint64_t more = 0) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(value) * by + more) / of);
  }

  const uint64_t rate_;
  std::atomic<int64_t> empty_at_ns_;
};

}  // namespace fairlead::filters
