// envoy.filters.http.bandwidth_limit: bodies pass at a rate that all requests of the filter, or of
// a route that has its own, share.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/runtime_slots.h"
#include "filters/http/byte_bucket.h"
#include "filters/http/http_filter.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::filters {

// Gauges that the latest of all workers has set.
class BandwidthGauges final : public Published {
 public:
  using Stats = stats::Block<stats::HttpBandwidthLimit>;
  using Gauge = stats::HttpBandwidthLimit::Gauge;

  explicit BandwidthGauges(std::shared_ptr<Stats> stats) : stats_(std::move(stats)) {}
  // Any thread.
  void set(Gauge gauge, uint64_t value) {
    values_[static_cast<size_t>(gauge)].store(value, std::memory_order_relaxed);
  }
  void publish() override;

 private:
  static constexpr uint64_t kUnset = UINT64_MAX;
  const std::shared_ptr<Stats> stats_;
  std::atomic<uint64_t> values_[static_cast<size_t>(Gauge::kCount)] = {kUnset, kUnset, kUnset,
                                                                       kUnset, kUnset, kUnset};
};

class BandwidthSettings final : public route::FilterConfig {
 public:
  static std::unique_ptr<const BandwidthSettings> build(const plan::BandwidthLimit& plan,
                                                        const RouteScope& scope);
  static const BandwidthSettings* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const BandwidthSettings*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  plan::BandwidthLimit plan;
  RuntimeNumber enabled;
  // Null: there is no limit.
  std::unique_ptr<ByteBucket> bucket;
  std::shared_ptr<BandwidthGauges::Stats> stats;
  std::shared_ptr<BandwidthGauges> gauges;
  // Of trailers that say how long it took, and how much of it was the filter's doing.
  std::string request_duration_name;
  std::string request_delay_name;
  std::string response_duration_name;
  std::string response_delay_name;

 private:
  static constexpr char kKind = 0;
};

class BandwidthLimitConfig final : public HttpFilterConfig {
 public:
  static BuiltFilter build(const plan::BandwidthLimit& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

 private:
  std::unique_ptr<const BandwidthSettings> settings_;
};

}  // namespace fairlead::filters
