// envoy.filters.http.health_check: tells health checks from other requests and answers them, from
// the health of this server and of its clusters, or from what a host has said lately.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "filters/http/http_filter.h"
#include "plan/plan.gen.h"
#include "route/header_match.h"
#include "stats/registry.h"

namespace fairlead::filters {

class HealthCheckConfig final : public HttpFilterConfig {
 public:
  using Stats = stats::Block<stats::HttpHealthCheck>;

  static BuiltFilter build(const plan::HealthCheckFilter& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  const plan::HealthCheckFilter& plan() const { return plan_; }
  // The clusters that have to be well.
  struct Wanted {
    NameIds::Ref cluster;
    uint32_t percent;
  };
  const std::vector<Wanted>& wanted() const { return wanted_; }
  stats::Shard<stats::HttpHealthCheck>& stats(unsigned worker) const {
    return *stats_->shard(worker + 1);
  }
  bool isHealthCheck(const route::RequestView& request) const;
  bool hasFailed() const { return failed_->load(std::memory_order_relaxed); }

  // What a host said of itself, kept until the end of the period that the clock is in.
  struct Remembered {
    uint16_t status = 0;  // 0: nothing.
    bool degraded = false;
  };
  Remembered recall(net::Millis now) const;
  void remember(net::Millis now, const Remembered& answer) const;

 private:
  uint64_t periodOf(net::Millis now) const { return now / plan_.cache_time_ms; }

  plan::HealthCheckFilter plan_;
  std::shared_ptr<Stats> stats_;
  std::shared_ptr<const std::atomic<bool>> failed_;
  std::vector<route::HeaderMatch> headers_;
  std::vector<Wanted> wanted_;
  // Of all workers: period << 17 | degraded << 16 | status.
  mutable std::atomic<uint64_t> remembered_{0};
};

}  // namespace fairlead::filters
