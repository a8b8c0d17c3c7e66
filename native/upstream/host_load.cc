#include "upstream/host_load.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace fairlead::upstream {

namespace {

// Of one host, until a service is told: hosts may say what they like.
constexpr size_t kMostNames = 4096;

}  // namespace

// As in the real server.
double utilizationOf(const LoadReport& report, const std::vector<std::string>& metrics) {
  double load = report.highestOf(metrics);
  if (!(load > 0)) load = report.application_utilization;
  if (!(load > 0)) load = report.cpu_utilization;
  return load;
}

std::optional<uint32_t> weightOf(const LoadReport& report, const plan::LoadWeights& rules) {
  constexpr double kOne = 1'000'000;
  constexpr double kMost = std::numeric_limits<uint32_t>::max();
  const double rate = report.rps_fractional;
  // Also where it is no number.
  if (!(rate > 0)) return std::nullopt;
  double load = utilizationOf(report, rules.metrics);
  load += static_cast<double>(rules.error_penalty_millionths) / kOne * report.eps / rate;
  if (!(load > 0)) return std::nullopt;
  const double weight = rate / load;
  return weight > kMost ? std::numeric_limits<uint32_t>::max() : static_cast<uint32_t>(weight);
}

bool HostLoad::take(const LoadReport& report, const plan::Cluster& cluster, uint64_t now_ms) {
  if (uses_.localities) {
    const double load = utilizationOf(report, cluster.locality_loads->metrics);
    // One that says nothing of it does not count as news.
    if (load > 0 && std::isfinite(load)) {
      utilization_.store(std::min(load, 1.0), std::memory_order_relaxed);
      utilization_ms_.store(now_ms, std::memory_order_release);
    }
  }
  if (!uses_.weights) return true;
  const std::optional<uint32_t> weight = weightOf(report, *cluster.load_weights);
  if (weight) put(*weight, now_ms);
  return weight.has_value();
}

void HostLoad::record(unsigned thread, const LoadReport& report,
                      const std::vector<std::string>& names) {
  Record& own = records_[thread];
  const std::lock_guard lock(own.mutex);
  report.forEach(names, [&own](std::string_view name, double value) {
    auto found = own.sums.find(name);
    if (found == own.sums.end()) {
      if (own.sums.size() >= kMostNames) return;
      found = own.sums.emplace(name, Sum()).first;
    }
    ++found->second.reports;
    found->second.total += value;
  });
}

HostLoad::Sums HostLoad::takeRecords() {
  Sums all;
  for (unsigned i = 0; records_ && i < threads_; ++i) {
    Sums taken;
    {
      const std::lock_guard lock(records_[i].mutex);
      taken = std::exchange(records_[i].sums, {});
    }
    for (const auto& [name, sum] : taken) {
      Sum& whole = all[name];
      whole.reports += sum.reports;
      whole.total += sum.total;
    }
  }
  return all;
}

std::optional<double> HostLoad::utilization(uint64_t expiration_ms, uint64_t now_ms) const {
  const uint64_t at_ms = utilization_ms_.load(std::memory_order_acquire);
  if (at_ms == kNever) return std::nullopt;
  if (expiration_ms > 0 && at_ms + expiration_ms < now_ms) return std::nullopt;
  return utilization_.load(std::memory_order_relaxed);
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
