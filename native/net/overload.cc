#include "net/overload.h"

#include <algorithm>
#include <utility>

namespace fairlead::net {

const Overload& Overload::none() {
  static const Overload kNone;
  return kNone;
}

void Overload::set(std::shared_ptr<const Update> update, unsigned worker) {
  update_ = std::move(update);
  worker_ = worker;
  heavy_before_ = level(Subject::ResetHighMemoryStream);
  levels_ = {};
  minimums_ = {};
  is_active_ = false;
  for (const plan::OverloadLevel& level : update_->state.levels) {
    levels_[static_cast<size_t>(level.subject)] = std::min(level.millionths, kWhole);
    is_active_ = is_active_ || level.millionths > 0;
  }
  for (const plan::TimerMinimum& minimum : update_->state.timer_minimums) {
    minimums_[static_cast<size_t>(minimum.timer)] = &minimum;
  }
  reduced_before_ = std::exchange(reduced_by_, level(Subject::ReduceTimeouts));
}

bool Overload::sheds(Subject point, Random& random) const {
  if (!takes(point, random)) return false;
  const auto& block = update_->point_stats[static_cast<size_t>(point)];
  if (block) block->shard(worker_ + 1)->add(stats::LoadShedPoint::Counter::ShedLoadCount);
  return true;
}

void Overload::countShed(uint32_t streams) const {
  if (streams == 0) return;
  using Counter = stats::OverloadAction::Counter;
  update_->action_stats->shard(worker_ + 1)
      ->add(Counter::OverloadActionsResetHighMemoryStreamCount, streams);
}

Millis Overload::reduced(TimerType type, Millis full, uint32_t by) const {
  const plan::TimerMinimum* const minimum = minimums_[static_cast<size_t>(type)];
  if (!minimum) return full;
  const Millis least = minimum->share_millionths > 0 ? full * minimum->share_millionths / kWhole
                                                     : std::min(minimum->min_ms, full);
  return full - (full - least) * by / kWhole;
}

}  // namespace fairlead::net
