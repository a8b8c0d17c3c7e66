// What the control thread's overload manager has workers do.
#include <memory>
#include <string>
#include <utility>

#include "worker/data_plane.h"

namespace fairlead::worker {

void DataPlane::declareOverload(const plan::OverloadManager& manager) {
  const auto scope = [](const std::string& name) {
    return stats::plainScope("overload." + name + ".");
  };
  min_account_power_ = manager.min_account_power;
  for (const std::string& name : manager.monitors) {
    other_stats_.push_back(registry_.create<stats::OverloadMonitor>(scope(name)));
  }
  if (const std::string& name = manager.connection_monitor; !name.empty()) {
    all_connections_->countRefusalsIn(
        registry_.create<stats::OverloadConnectionMonitor>(scope(name)));
  }
  for (const std::string& name : manager.actions) {
    other_stats_.push_back(registry_.create<stats::OverloadActionState>(scope(name)));
    if (name != "envoy.overload_actions.shrink_heap") continue;
    other_stats_.push_back(registry_.create<stats::OverloadShrinkHeap>(scope(name)));
  }
  for (const plan::LoadShedPoint& point : manager.points) {
    auto block = registry_.create<stats::LoadShedPoint>(scope(point.name));
    other_stats_.push_back(block);
    if (!point.level) continue;
    point_stats_[static_cast<size_t>(point.level->subject)] = std::move(block);
  }
}

void DataPlane::publishOverload(const plan::OverloadState& state) {
  const auto update = std::make_shared<const net::Overload::Update>(
      net::Overload::Update{state, point_stats_, min_account_power_, overload_action_stats_});
  for (const auto& worker : workers_) {
    worker->post([to = worker.get(), update] { to->setOverload(update); });
  }
}

}  // namespace fairlead::worker
