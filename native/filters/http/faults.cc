#include "filters/http/faults.h"

#include <mutex>
#include <utility>

#include "stats/filter_scopes.h"

namespace fairlead::filters {

namespace {

// Of one filter and worker.
constexpr size_t kMaxClusters = 1000;

}  // namespace

// ---- what is counted ----

FaultsByCluster::Counts* FaultsByCluster::find(unsigned worker, std::string_view cluster) {
  Worker& own = workers_[worker];
  const auto found = own.by_cluster.find(cluster);
  if (found != own.by_cluster.end()) return &found->second;
  if (own.by_cluster.size() >= kMaxClusters) return nullptr;
  const std::lock_guard lock(own.mutex);
  return &own.by_cluster.try_emplace(std::string(cluster)).first->second;
}

void FaultsByCluster::publish(stats::Registry& registry) {
  using Counter = stats::HttpFaultCluster::Counter;
  for (Worker& worker : workers_) {
    const std::lock_guard lock(worker.mutex);
    for (auto& [cluster, counts] : worker.by_cluster) {
      auto& block = blocks_[cluster];
      if (!block) {
        block = registry.create<stats::HttpFaultCluster>(stats::faultClusterScope(http_, cluster));
      }
      const auto addTo = [&](Counter counter, uint64_t now, uint64_t& published) {
        const uint64_t added = now - std::exchange(published, now);
        if (added > 0) block->addOwn(static_cast<size_t>(counter), added);
      };
      addTo(Counter::DelaysInjected, counts.delays.load(std::memory_order_relaxed),
            counts.published_delays);
      addTo(Counter::AbortsInjected, counts.aborts.load(std::memory_order_relaxed),
            counts.published_aborts);
    }
  }
}

void Faults::publish(stats::Registry& registry) {
  std::erase_if(counts_, [](const auto& counts) { return counts.expired(); });
  for (const auto& each : counts_) {
    if (const auto counts = each.lock()) counts->publish(registry);
  }
}

// ---- what runtime keys say ----

void FaultRuntimes::apply(const std::vector<plan::FaultRuntime>& runtimes) {
  if (runtimes.empty()) return;
  auto table = std::make_shared<Table>(table_ ? *table_ : Table());
  for (const plan::FaultRuntime& runtime : runtimes) {
    const FaultNumbers numbers{runtime.delay_share, runtime.delay_ms, runtime.abort_share,
                               runtime.http_status, runtime.grpc_status};
    if (numbers.isEmpty()) {
      table->erase(runtime.cluster);
    } else {
      (*table)[runtime.cluster] = numbers;
    }
  }
  const std::lock_guard lock(mutex_);
  table_ = std::move(table);
  version_.fetch_add(1, std::memory_order_release);
}

FaultNumbers FaultRuntimes::Reader::find(const FaultRuntimes& of, std::string_view cluster) {
  if (of.version_.load(std::memory_order_acquire) != version_) {
    const std::lock_guard lock(of.mutex_);
    table_ = of.table_;
    version_ = of.version_.load(std::memory_order_relaxed);
  }
  if (!table_) return {};
  const auto found = table_->find(cluster);
  return found == table_->end() ? FaultNumbers() : found->second;
}

}  // namespace fairlead::filters
