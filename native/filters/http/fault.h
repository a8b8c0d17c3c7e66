// envoy.filters.http.fault: delays requests, answers them in place of a host, and slows answers
// down, for a share of them, so that clients can be tried against a service that fails.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "filters/http/fault_settings.h"
#include "filters/http/http_filter.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::filters {

class FaultConfig final : public HttpFilterConfig {
 public:
  using Stats = stats::Block<stats::HttpFault>;

  static BuiltFilter build(const plan::FaultSettings& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  stats::Shard<stats::HttpFault>& stats(unsigned worker) const {
    return *stats_->shard(worker + 1);
  }
  // Requests that have a fault now, of all workers: only those write to it.
  std::atomic<uint64_t>& active() const { return active_; }

 private:
  std::unique_ptr<const FaultSettings> settings_;
  std::shared_ptr<Stats> stats_;
  mutable std::atomic<uint64_t> active_{0};
};

}  // namespace fairlead::filters
