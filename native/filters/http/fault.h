// envoy.filters.http.fault: delays requests, answers them in place of a host, and slows answers
// down, for a share of them, so that clients can be tried against a service that fails.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "filters/http/fault_settings.h"
#include "filters/http/faults.h"
#include "filters/http/http_filter.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::filters {

class FaultConfig final : public HttpFilterConfig {
 public:
  using Stats = stats::Block<stats::HttpFault>;

  // `name`: what the chain calls it.
  static BuiltFilter build(const std::string& name, const plan::FaultSettings& plan,
                           const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  stats::Shard<stats::HttpFault>& stats(unsigned worker) const {
    return *stats_->shard(worker + 1);
  }
  const std::string& name() const { return name_; }
  // Of requests that say which downstream cluster they come from.
  FaultsByCluster& byCluster() const { return *by_cluster_; }
  FaultNumbers numbersOf(unsigned worker, std::string_view downstream_cluster) const {
    return runtimes_[worker].find(faults_->runtimes(), downstream_cluster);
  }
  // Requests that have a fault now, of all workers: only those write to it.
  std::atomic<uint64_t>& active() const { return active_; }

 private:
  std::string name_;
  std::unique_ptr<const FaultSettings> settings_;
  std::shared_ptr<Stats> stats_;
  std::shared_ptr<FaultsByCluster> by_cluster_;
  Faults* faults_ = nullptr;
  // Each worker's own.
  mutable std::vector<FaultRuntimes::Reader> runtimes_;
  mutable std::atomic<uint64_t> active_{0};
};

}  // namespace fairlead::filters
