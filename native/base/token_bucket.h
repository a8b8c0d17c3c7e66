// Tokens that come at a steady rate, up to so many at once, and are taken one by one: full at
// first. Any thread, without a lock: all there is to it is the time at which it would have been
// empty.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace fairlead {

class TokenBucket {
 public:
  // `tokens` come each `interval_us`, both above 0. `now_us`: of a clock that never goes back.
  TokenBucket(uint64_t max_tokens, uint64_t tokens, uint64_t interval_us, uint64_t now_us)
      : token_ns_(std::max<uint64_t>(interval_us * 1000 / tokens, 1)),
        full_ns_(max_tokens * token_ns_),
        empty_at_ns_(static_cast<int64_t>(now_us * 1000) - static_cast<int64_t>(full_ns_)) {}

  // All of them or, false, none.
  bool tryTake(uint64_t now_us, uint64_t tokens = 1) {
    const auto now = static_cast<int64_t>(now_us * 1000);
    int64_t empty_at = empty_at_ns_.load(std::memory_order_relaxed);
    for (;;) {
      // What comes while it is full is lost.
      const int64_t from = std::max(empty_at, now - static_cast<int64_t>(full_ns_));
      const int64_t then = from + static_cast<int64_t>(token_ns_ * tokens);
      if (then > now) return false;
      if (empty_at_ns_.compare_exchange_weak(empty_at, then, std::memory_order_relaxed)) {
        return true;
      }
    }
  }

  uint64_t maxTokens() const { return full_ns_ / token_ns_; }
  // Whole ones.
  uint64_t remaining(uint64_t now_us) const { return ageAt(now_us) / token_ns_; }
  // Until there is one; 0: there is.
  uint64_t nextAfterNs(uint64_t now_us) const {
    const uint64_t age = ageAt(now_us);
    return age >= token_ns_ ? 0 : token_ns_ - age;
  }

 private:
  // How long it would have been filling from empty.
  uint64_t ageAt(uint64_t now_us) const {
    const auto now = static_cast<int64_t>(now_us * 1000);
    const int64_t age = now - empty_at_ns_.load(std::memory_order_relaxed);
    return std::min(static_cast<uint64_t>(std::max<int64_t>(age, 0)), full_ns_);
  }

  // In which one token comes, and all of them.
  const uint64_t token_ns_;
  const uint64_t full_ns_;
  std::atomic<int64_t> empty_at_ns_;
};

}  // namespace fairlead
