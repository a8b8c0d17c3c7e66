// How many requests may be under way at once, as their latencies have it: a few, now and then, to
// learn how fast hosts are alone; then as many more as do not make them slower. Shared by all
// workers: a request asks with two plain loads, and an answer leaves its latency under a lock. The
// control thread wakes it where no answers come.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/random.h"
#include "base/runtime_slots.h"
#include "filters/http/published.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::filters {

class GradientController final : public Published {
 public:
  using Stats = stats::Block<stats::GradientController>;

  // Times are microseconds of a clock that never goes back.
  GradientController(const plan::AdaptiveConcurrency& plan, RuntimeSlots& slots,
                     std::shared_ptr<Stats> stats, uint64_t now_us);

  // ---- workers' ----
  // False: there are enough under way. Otherwise leave() is to follow.
  bool enter(unsigned worker, uint64_t now_us);
  // It was answered.
  void leave(uint64_t begun_us, uint64_t now_us);
  // It ended without an answer.
  void leaveUnanswered() { under_way_.fetch_sub(1, std::memory_order_relaxed); }

  // The control thread's.
  void publish() override;

  uint32_t limit() const { return limit_.load(std::memory_order_relaxed); }

 private:
  // Of latencies in microseconds, each within a tenth of its own.
  class Latencies {
   public:
    void add(uint64_t us);
    void clear();
    uint64_t count() const { return count_; }
    // `share`: 0 to 1.
    uint64_t quantile(double share) const;

   private:
    static constexpr unsigned kPerPower = 16;
    static constexpr unsigned kBuckets = 64 * kPerPower;
    static unsigned bucketOf(uint64_t us);
    static uint64_t middleOf(unsigned bucket);

    std::vector<uint32_t> buckets_ = std::vector<uint32_t>(kBuckets);
    uint64_t count_ = 0;
  };

  bool measuresMinRtt() const { return plan_.fixed_min_rtt_ms == 0; }
  bool isMeasuring() const { return deferred_limit_ > 0; }
  // What is due by now. All of these hold the lock.
  void wake(uint64_t now_us);
  void beginMeasuring(uint64_t now_us);
  void endMeasuring(uint64_t now_us);
  void takeSample();
  void setLimit(uint32_t limit, uint64_t now_us);
  uint64_t takeQuantile();
  uint32_t newLimit();
  void planNext(uint64_t now_us);

  const plan::AdaptiveConcurrency plan_;
  RuntimeNumber sample_percentile_;
  RuntimeNumber max_concurrency_;
  RuntimeNumber update_interval_ms_;
  RuntimeNumber min_rtt_interval_ms_;
  RuntimeNumber min_rtt_requests_;
  RuntimeNumber jitter_;
  RuntimeNumber min_concurrency_;
  RuntimeNumber buffer_;
  RuntimeNumber min_limit_;
  const std::shared_ptr<Stats> stats_;

  std::atomic<uint32_t> under_way_{0};
  std::atomic<uint32_t> limit_;
  // When wake() has something to do at the earliest.
  std::atomic<uint64_t> wakes_at_us_{0};

  Mutex mutex_;
  Random random_;
  Latencies latencies_;
  // The limit before the least time was measured; 0: it is not.
  uint32_t deferred_limit_ = 0;
  uint64_t measuring_since_us_ = 0;
  uint64_t measures_at_us_ = UINT64_MAX;
  uint64_t samples_at_us_ = UINT64_MAX;
  uint64_t min_rtt_us_ = 0;
  uint64_t sample_rtt_us_ = 0;
  uint32_t times_at_minimum_ = 0;
  // As statistics show them.
  uint64_t gradient_ = 0;
  uint64_t headroom_ = 0;
};

}  // namespace fairlead::filters
