// envoy.filters.http.admission_control: turns requests away, by chance, as fewer of the latest ones
// have succeeded. Each worker looks at its own.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "base/runtime_slots.h"
#include "filters/http/http_filter.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::filters {

// Requests of the sampling window, by second. One worker's.
class AdmissionHistory {
 public:
  struct Counts {
    uint64_t requests = 0;
    uint64_t successes = 0;
  };

  explicit AdmissionHistory(net::Millis window_ms) : window_ms_(window_ms) {}

  void add(bool is_success, net::Millis now);
  const Counts& counts(net::Millis now);
  // Requests per second.
  uint64_t averageRps(net::Millis now);

 private:
  void update(net::Millis now);

  struct Second {
    net::Millis begin;
    Counts counts;
  };
  net::Millis window_ms_;
  std::deque<Second> seconds_;
  Counts all_;
};

class AdmissionControlConfig final : public HttpFilterConfig {
 public:
  static BuiltFilter build(const plan::AdmissionControl& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  bool isEnabled() const { return enabled_.value() != 0; }
  uint64_t rpsThreshold() const { return rps_threshold_.value(); }
  bool isHttpSuccess(uint16_t status) const;
  bool isGrpcSuccess(uint64_t status) const;
  // Of 1, by what has been seen.
  double rejection(const AdmissionHistory::Counts& counts) const;
  AdmissionHistory& history(unsigned worker) const { return histories_[worker]; }
  stats::Shard<stats::HttpAdmissionControl>& stats(unsigned worker) const {
    return *stats_->shard(worker + 1);
  }

 private:
  plan::AdmissionControl plan_;
  RuntimeNumber enabled_;
  RuntimeNumber aggression_;
  RuntimeNumber success_threshold_;
  RuntimeNumber max_rejection_;
  RuntimeNumber rps_threshold_;
  std::shared_ptr<stats::Block<stats::HttpAdmissionControl>> stats_;
  // Each worker's own.
  mutable std::vector<AdmissionHistory> histories_;
};

}  // namespace fairlead::filters
