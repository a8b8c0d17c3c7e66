#include "filters/http/late_counts.h"

namespace fairlead::filters {

void LateCountsOfAll::publish(stats::Registry& registry) {
  std::erase_if(counts_, [](const auto& counts) { return counts.expired(); });
  for (const auto& each : counts_) {
    if (const auto counts = each.lock()) counts->publish(registry);
  }
}

}  // namespace fairlead::filters
