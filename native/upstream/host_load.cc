#include "upstream/host_load.h"

#include <limits>

namespace fairlead::upstream {

// Named metrics go before what the host says of its load as a whole, as in the real server.
std::optional<uint32_t> weightOf(const LoadReport& report, const plan::LoadWeights& rules) {
  constexpr double kOne = 1'000'000;
  constexpr double kMost = std::numeric_limits<uint32_t>::max();
  const double rate = report.rps_fractional;
  // Also where it is no number.
  if (!(rate > 0)) return std::nullopt;
  double load = report.highestOf(rules.metrics);
  if (!(load > 0)) load = report.application_utilization;
  if (!(load > 0)) load = report.cpu_utilization;
  load += static_cast<double>(rules.error_penalty_millionths) / kOne * report.eps / rate;
  if (!(load > 0)) return std::nullopt;
  const double weight = rate / load;
  return weight > kMost ? std::numeric_limits<uint32_t>::max() : static_cast<uint32_t>(weight);
}

void HostLoad::put(uint32_t weight, uint64_t now_ms) {
  reported_.store(weight, std::memory_order_relaxed);
  uint64_t never = kNever;
  since_ms_.compare_exchange_strong(never, now_ms, std::memory_order_relaxed);
  latest_ms_.store(now_ms, std::memory_order_release);
}

std::optional<uint32_t> HostLoad::reported(const plan::LoadWeights& rules, uint64_t now_ms) {
  const uint64_t since_ms = since_ms_.load(std::memory_order_relaxed);
  if (since_ms == kNever || since_ms + rules.blackout_ms > now_ms) return std::nullopt;
  if (latest_ms_.load(std::memory_order_acquire) + rules.expiration_ms < now_ms) {
    since_ms_.store(kNever, std::memory_order_relaxed);
    return std::nullopt;
  }
  return reported_.load(std::memory_order_relaxed);
}

}  // namespace fairlead::upstream
