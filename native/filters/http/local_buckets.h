// The buckets of one local rate limit: one of its own, and one for each descriptor that it names.
// Any thread: all workers take from the same, unless a connection has its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/token_bucket.h"
#include "filters/http/open_buckets.h"
#include "filters/http/rate_limit_descriptors.h"
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
    // Holds it, where others might let go of it.
    std::shared_ptr<const TokenBucket> kept;
    // What the descriptor that decided says of it.
    plan::RateLimit::XRateLimit tells_limit = plan::RateLimit::XRateLimit::Unspecified;
  };

  // `now_us`: of the loop's clock.
  static Result<std::shared_ptr<LocalBuckets>> build(const plan::LocalRatelimit& plan,
                                                     uint64_t now_us);
  // Takes tokens of each bucket that a request with these descriptors asks, the slowest first,
  // until one has not as many. `shares`: one for each who takes from them, elsewhere too; a token
  // is as many tokens.
  Verdict take(const std::vector<Descriptor>& descriptors, uint64_t now_us, uint64_t shares = 1);

 private:
  // Of a descriptor.
  struct Limit {
    // Tokens per microsecond.
    double rate = 0;
    bool shadow_mode = false;
  };
  struct Described : Limit {
    std::string descriptor;
    std::unique_ptr<TokenBucket> bucket;
  };
  struct Open : Limit {
    std::unique_ptr<OpenBuckets> buckets;
  };
  struct Found {
    const Limit* limit;
    const Descriptor* asked;
    TokenBucket* bucket;
    std::shared_ptr<TokenBucket> kept;
  };

  std::vector<Found> find(const std::vector<Descriptor>& descriptors, uint64_t now_us) const;

  // Null: there is none.
  std::unique_ptr<TokenBucket> own_;
  // It has no token, ever.
  bool is_closed_ = false;
  bool always_asks_own_ = true;
  std::vector<Described> described_;
  std::vector<Open> open_;
};

}  // namespace fairlead::filters
