// How many requests began within the last so many milliseconds, for a retry budget that counts
// them. Any thread; all writes are relaxed: what two threads begin as the time of a slot ends may
// be one slot early or late.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fairlead::upstream {

class RequestWindow {
 public:
  // As in the real server time passes in tenths, of a millisecond at least: what began in one of
  // them counts for an interval from its end on.
  explicit RequestWindow(uint64_t interval_ms)
      : interval_ms_(interval_ms), slot_ms_(std::max<uint64_t>(1, interval_ms / kParts)) {}

  // Milliseconds of upstream::hostClockMs().
  void add(uint64_t now_ms) {
    const uint64_t number = now_ms / slot_ms_;
    std::atomic<uint64_t>& slot = slots_[number % slots_.size()];
    uint64_t known = slot.load(std::memory_order_relaxed);
    uint64_t next = 0;
    do {
      const bool is_same = known >> kCountBits == (number & kNumbers);
      next = (number & kNumbers) << kCountBits | ((is_same ? known & kCounts : 0) + 1);
    } while (!slot.compare_exchange_weak(known, next, std::memory_order_relaxed));
  }

  uint64_t count(uint64_t now_ms) const {
    uint64_t total = 0;
    const uint64_t latest = now_ms / slot_ms_;
    for (uint64_t age = 0; age < slots_.size() && age <= latest; ++age) {
      const uint64_t number = latest - age;
      if ((number + 1) * slot_ms_ + interval_ms_ <= now_ms) break;
      const uint64_t known = slots_[number % slots_.size()].load(std::memory_order_relaxed);
      if (known >> kCountBits == (number & kNumbers)) total += known & kCounts;
    }
    return total;
  }

 private:
  static constexpr uint64_t kParts = 10;
  // A slot is its number, in the upper half, and how many began in it.
  static constexpr unsigned kCountBits = 32;
  static constexpr uint64_t kCounts = (uint64_t{1} << kCountBits) - 1;
  static constexpr uint64_t kNumbers = kCounts;

  const uint64_t interval_ms_;
  const uint64_t slot_ms_;
  // As many as can count at once: an interval that is no multiple of ten has up to nine
  // milliseconds beyond its tenths, which may be slots of their own.
  std::array<std::atomic<uint64_t>, 2 * kParts + 2> slots_{};
};

}  // namespace fairlead::upstream
