#include "filters/http/gradient_controller.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <utility>

#include "net/loop.h"

namespace fairlead::filters {

namespace {

using GradientGauge = stats::GradientController::Gauge;
using GradientCounter = stats::GradientController::Counter;

constexpr uint64_t kMsUs = 1000;
constexpr uint32_t kTimesAtMinimum = 5;
// As the gauge has it: in thousandths.
constexpr double kGradientUnit = 1000;

RuntimeNumber followed(const Boxed<plan::LiveNumber>& plan, RuntimeSlots& slots) {
  return plan ? RuntimeNumber(plan->value, plan->slot, &slots) : RuntimeNumber();
}

// Of 1, of millionths of a percent.
double shareOfPercent(const RuntimeNumber& percent) {
  return std::clamp(static_cast<double>(percent.value()) / 1e8, 0.0, 1.0);
}

}  // namespace

// ---- latencies ----

// Whole numbers below 16 have buckets of their own; each power of two above has sixteen.
unsigned GradientController::Latencies::bucketOf(uint64_t us) {
  if (us < kPerPower) return static_cast<unsigned>(us);
  const auto power = static_cast<unsigned>(std::bit_width(us)) - 1;
  return (power - 3) * kPerPower + static_cast<unsigned>(us >> (power - 4) & (kPerPower - 1));
}

uint64_t GradientController::Latencies::middleOf(unsigned bucket) {
  if (bucket < kPerPower) return bucket;
  const unsigned power = bucket / kPerPower + 3;
  const uint64_t width = uint64_t{1} << (power - 4);
  return (kPerPower + bucket % kPerPower) * width + width / 2;
}

void GradientController::Latencies::add(uint64_t us) {
  ++buckets_[std::min(bucketOf(us), kBuckets - 1)];
  ++count_;
}

void GradientController::Latencies::clear() {
  if (count_ > 0) std::ranges::fill(buckets_, 0);
  count_ = 0;
}

uint64_t GradientController::Latencies::quantile(double share) const {
  const auto wanted =
      std::max<uint64_t>(static_cast<uint64_t>(std::ceil(share * static_cast<double>(count_))), 1);
  uint64_t seen = 0;
  for (unsigned i = 0; i < kBuckets; ++i) {
    seen += buckets_[i];
    if (seen >= wanted) return middleOf(i);
  }
  return 0;
}

// ---- requests ----

GradientController::GradientController(const plan::AdaptiveConcurrency& plan, RuntimeSlots& slots,
                                       std::shared_ptr<Stats> stats, uint64_t now_us)
    : plan_(plan),
      sample_percentile_(followed(plan.sample_percentile, slots)),
      max_concurrency_(followed(plan.max_concurrency, slots)),
      update_interval_ms_(followed(plan.update_interval_ms, slots)),
      min_rtt_interval_ms_(followed(plan.min_rtt_interval_ms, slots)),
      min_rtt_requests_(followed(plan.min_rtt_requests, slots)),
      jitter_(followed(plan.jitter, slots)),
      min_concurrency_(followed(plan.min_concurrency, slots)),
      buffer_(followed(plan.buffer, slots)),
      min_limit_(followed(plan.min_limit, slots)),
      stats_(std::move(stats)),
      limit_(static_cast<uint32_t>(min_concurrency_.value())) {
  const std::lock_guard lock(mutex_);
  if (measuresMinRtt()) {
    beginMeasuring(now_us);
  } else {
    min_rtt_us_ = plan.fixed_min_rtt_ms * kMsUs;
    samples_at_us_ = now_us + update_interval_ms_.value() * kMsUs;
  }
  planNext(now_us);
}

bool GradientController::enter(unsigned worker, uint64_t now_us) {
  if (now_us >= wakes_at_us_.load(std::memory_order_relaxed)) {
    const std::lock_guard lock(mutex_);
    wake(now_us);
  }
  uint32_t under_way = under_way_.load(std::memory_order_relaxed);
  while (under_way < limit()) {
    if (under_way_.compare_exchange_weak(under_way, under_way + 1, std::memory_order_relaxed)) {
      return true;
    }
  }
  stats_->shard(worker + 1)->add(GradientCounter::RqBlocked);
  return false;
}

void GradientController::leave(uint64_t begun_us, uint64_t now_us) {
  leaveUnanswered();
  const std::lock_guard lock(mutex_);
  wake(now_us);
  // It was sent before those that are measured.
  if (begun_us < measuring_since_us_) return;
  latencies_.add(now_us - std::min(begun_us, now_us));
  if (isMeasuring() && latencies_.count() >= min_rtt_requests_.value()) {
    endMeasuring(now_us);
    planNext(now_us);
  }
}

void GradientController::publish() {
  const std::lock_guard lock(mutex_);
  wake(net::Loop::readClockMicros());
  // As the real server: what is not known yet shows as not used.
  const auto set = [this](GradientGauge gauge, uint64_t value) {
    if (value > 0 || min_rtt_us_ > 0) stats_->setOwn(static_cast<size_t>(gauge), value);
  };
  set(GradientGauge::BurstQueueSize, headroom_);
  set(GradientGauge::ConcurrencyLimit, limit());
  set(GradientGauge::Gradient, gradient_);
  set(GradientGauge::MinRttCalculationActive, isMeasuring() ? 1 : 0);
  set(GradientGauge::MinRttMsecs, min_rtt_us_ / kMsUs);
  set(GradientGauge::SampleRttMsecs, sample_rtt_us_ / kMsUs);
}

// ---- under the lock ----

void GradientController::wake(uint64_t now_us) {
  if (now_us >= measures_at_us_) {
    measures_at_us_ = UINT64_MAX;
    if (!isMeasuring()) beginMeasuring(now_us);
  }
  // While the least time is measured, all latencies are for that.
  if (!isMeasuring() && now_us >= samples_at_us_) {
    samples_at_us_ = now_us + update_interval_ms_.value() * kMsUs;
    if (latencies_.count() > 0) {
      takeSample();
      setLimit(newLimit(), now_us);
    }
  }
  planNext(now_us);
}

void GradientController::planNext(uint64_t) {
  const uint64_t sample = isMeasuring() ? UINT64_MAX : samples_at_us_;
  wakes_at_us_.store(std::min(sample, measures_at_us_), std::memory_order_relaxed);
}

void GradientController::beginMeasuring(uint64_t now_us) {
  deferred_limit_ = std::max<uint32_t>(limit(), 1);
  setLimit(std::min(limit(), static_cast<uint32_t>(min_concurrency_.value())), now_us);
  latencies_.clear();
  measuring_since_us_ = now_us;
}

void GradientController::endMeasuring(uint64_t now_us) {
  min_rtt_us_ = takeQuantile();
  const uint32_t limit = std::exchange(deferred_limit_, 0);
  setLimit(limit, now_us);
  const uint64_t interval_ms = min_rtt_interval_ms_.value();
  const auto range =
      static_cast<uint64_t>(std::ceil(static_cast<double>(interval_ms) * shareOfPercent(jitter_)));
  measures_at_us_ = now_us + (interval_ms + random_.below(range)) * kMsUs;
  samples_at_us_ = now_us + update_interval_ms_.value() * kMsUs;
}

void GradientController::takeSample() { sample_rtt_us_ = takeQuantile(); }

uint64_t GradientController::takeQuantile() {
  const uint64_t us = latencies_.quantile(shareOfPercent(sample_percentile_));
  latencies_.clear();
  return us;
}

uint32_t GradientController::newLimit() {
  const double wanted = static_cast<double>(min_rtt_us_) * (1 + shareOfPercent(buffer_));
  const double raw = wanted / static_cast<double>(std::max<uint64_t>(sample_rtt_us_, 1));
  const double gradient = std::clamp(raw, 0.5, 2.0);
  gradient_ = static_cast<uint64_t>(gradient * kGradientUnit);
  const double limit = limit_.load(std::memory_order_relaxed) * gradient;
  const double headroom = std::sqrt(limit);
  headroom_ = static_cast<uint64_t>(headroom);
  const auto most = static_cast<double>(max_concurrency_.value());
  const auto least = static_cast<double>(min_limit_.value());
  return static_cast<uint32_t>(std::max(least, std::min(most, limit + headroom)));
}

void GradientController::setLimit(uint32_t limit, uint64_t now_us) {
  const uint32_t before = limit_.exchange(limit, std::memory_order_relaxed);
  const uint64_t least = min_limit_.value();
  const bool stays = !isMeasuring() && before == least && limit == least;
  times_at_minimum_ = stays ? times_at_minimum_ + 1 : 0;
  // What was measured may not be true any more, and now is the time to measure again.
  if (times_at_minimum_ >= kTimesAtMinimum && measuresMinRtt()) measures_at_us_ = now_us;
}

}  // namespace fairlead::filters
