#include "access_log/service_log.h"

#include <utility>

namespace fairlead::access_log {

std::string* ServiceLog::begin(size_t worker) {
  Lane& lane = lanes_[worker + 1];
  if (most_bytes_ > 0 && lane.entries.size() >= most_bytes_) {
    flush(worker);
    if (!lane.entries.empty()) {
      stats_.countDropped(worker + 1);
      return nullptr;
    }
  }
  if (!counts_losses_alone_) stats_.countWritten(worker + 1);
  return &lane.entries;
}

void ServiceLog::entryDone(size_t worker) {
  Lane& lane = lanes_[worker + 1];
  ++lane.count;
  if (lane.entries.size() >= most_bytes_) flush(worker);
}

void ServiceLog::flush(size_t worker) {
  Lane& lane = lanes_[worker + 1];
  if (lane.count == 0 || is_blocked_.load(std::memory_order_relaxed)) return;
  const uint64_t count = std::exchange(lane.count, 0);
  if (!sink_->onEntries(id_, count, std::exchange(lane.entries, {}))) {
    stats_.countDropped(worker + 1, count);
  }
}

}  // namespace fairlead::access_log
