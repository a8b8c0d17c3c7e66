// What a worker sheds now: how far the overload manager's actions have gone, its load shed points,
// and what its timers fall to. Of one worker, set by its tasks: whoever asks on a request's way
// reads plain memory, and at most one word of it where nothing is shed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "base/random.h"
#include "net/heavy_streams.h"
#include "net/timer_wheel.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::net {

class Overload {
 public:
  using Subject = plan::OverloadLevel::Subject;
  using TimerType = plan::TimerMinimum::Timer;
  static constexpr size_t kSubjects = static_cast<size_t>(Subject::PointTcpProxyConnect) + 1;
  static constexpr size_t kTimers = static_cast<size_t>(TimerType::StreamFlush) + 1;
  static constexpr uint32_t kWhole = 1'000'000;

  // Where points count what they shed; null: nowhere. Of all workers.
  using PointStats = std::array<std::shared_ptr<stats::Block<stats::LoadShedPoint>>, kSubjects>;
  struct Update {
    plan::OverloadState state;
    PointStats point_stats;
    // Of streams that are reset for their memory: see HeavyStreams; 0: none are.
    uint32_t min_account_power = 0;
    std::shared_ptr<stats::Block<stats::OverloadAction>> action_stats = nullptr;
  };

  Overload() = default;
  Overload(const Overload&) = delete;
  Overload& operator=(const Overload&) = delete;

  // For those who bypass the overload manager.
  static const Overload& none();

  // `worker`: whose shard of the statistics is written.
  void set(std::shared_ptr<const Update> update, unsigned worker);

  // Whether anything at all may be shed: ask this first.
  bool isActive() const { return is_active_; }
  bool isSaturated(Subject action) const { return level(action) == kWhole; }
  // Whether the action falls on whoever asks: as often as it has gone far.
  bool takes(Subject action, Random& random) const {
    const uint32_t share = level(action);
    return share > 0 && (share == kWhole || random.below(kWhole) < share);
  }
  // The same of a load shed point, which counts it.
  bool sheds(Subject point, Random& random) const;

  // How long a timer runs now that is configured so.
  Millis scaled(TimerType type, Millis full) const {
    return reduced_by_ == 0 || full == 0 ? full : reduced(type, full, reduced_by_);
  }
  // What scaled() said before the latest set().
  Millis scaledBefore(TimerType type, Millis full) const {
    return reduced_before_ == 0 || full == 0 ? full : reduced(type, full, reduced_before_);
  }
  bool hasNewTimes() const { return reduced_by_ != reduced_before_; }
  // The latest set() has moved the action that resets streams for their memory, be it down: those
  // are to be shed that hold most. `visit(HeavyStreams*)` adds all that there are.
  template <typename Visit>
  void shedHeavy(Visit visit) {
    if (!isHeavySheddingDue()) return;
    HeavyStreams streams(update_->min_account_power);
    visit(&streams);
    countShed(streams.shed(level(Subject::ResetHighMemoryStream)));
  }

  uint32_t level(Subject subject) const { return levels_[static_cast<size_t>(subject)]; }

 private:
  Millis reduced(TimerType type, Millis full, uint32_t by) const;
  bool isHeavySheddingDue() const {
    return update_->min_account_power > 0 && heavy_before_ != level(Subject::ResetHighMemoryStream);
  }
  void countShed(uint32_t streams) const;

  bool is_active_ = false;
  // Of reduce_timeouts, in millionths: now, and before the latest set().
  uint32_t reduced_by_ = 0;
  uint32_t reduced_before_ = 0;
  // Of reset_high_memory_stream, before the latest set().
  uint32_t heavy_before_ = 0;
  std::array<uint32_t, kSubjects> levels_ = {};
  // Absent: timers of the type stay as they are.
  std::array<const plan::TimerMinimum*, kTimers> minimums_ = {};
  std::shared_ptr<const Update> update_;
  unsigned worker_ = 0;
};

}  // namespace fairlead::net
