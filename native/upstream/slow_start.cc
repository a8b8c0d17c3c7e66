#include "upstream/slow_start.h"

#include <algorithm>
#include <cmath>

namespace fairlead::upstream {

double slowStartShare(const Host& host, const SlowStartSettings& settings) {
  if (!host.isHealthy()) return 1;
  const uint64_t age_ms = hostClockMs() - host.healthySinceMs();
  if (age_ms >= settings.window_ms) return 1;
  const double part =
      static_cast<double>(std::max<uint64_t>(1, age_ms)) / static_cast<double>(settings.window_ms);
  constexpr double kOne = 1e6;
  const auto aggression = static_cast<double>(settings.aggression_millionths.value()) / kOne;
  const double grown = aggression == 1 || aggression <= 0 ? part : std::pow(part, 1 / aggression);
  return std::max(grown, settings.min_share);
}

bool isAnySlow(const HostList& hosts, const std::optional<SlowStartSettings>& settings) {
  if (!settings) return false;
  const uint64_t now = hostClockMs();
  return std::any_of(hosts.begin(), hosts.end(), [&](const Host* host) {
    return host->isHealthy() && now - host->healthySinceMs() < settings->window_ms;
  });
}

}  // namespace fairlead::upstream
