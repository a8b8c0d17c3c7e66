// The buckets of one local rate limit: one of its own, and one for each descriptor that it names.
// Any thread: all workers take from the same, unless a connection has its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/token_bucket.h"
#include "plan/plan.gen.h"

namespace fairlead::filters {

class LocalBuckets {
 public:
  struct Verdict {
    bool passes = true;
    // It would not, but for the descriptor's shadow mode.
    bool is_shadow = false;
    // What decided; null: none.
    const TokenBucket* by = nullptr;
  };

  // `now_us`: of the loop's clock.
  static Result<std::shared_ptr<LocalBuckets>> build(const plan::LocalRatelimit& plan,
                                                     uint64_t now_us);
  // Takes one token of each bucket that a request with these descriptors asks, the slowest first,
  // until one is empty.
  Verdict take(const std::vector<std::string>& descriptors, uint64_t now_us);

 private:
  struct Described {
    std::string descriptor;
    std::unique_ptr<TokenBucket> bucket;
    // Tokens per second.
    double rate;
    bool shadow_mode;
  };

  // Null: there is none.
  std::unique_ptr<TokenBucket> own_;
  // It has no token, ever.
  bool is_closed_ = false;
  bool always_asks_own_ = true;
  // The slowest first.
  std::vector<Described> described_;
};

}  // namespace fairlead::filters
