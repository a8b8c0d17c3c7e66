#include "worker/outliers.h"

#include <utility>

#include "stats/scopes.h"

namespace fairlead::worker {

using upstream::Cluster;
using upstream::OutlierDetector;

void Outliers::attach(Cluster& cluster, uint64_t now_ms) {
  const auto& plan = cluster.settings().outlier_detection;
  if (!plan) return;
  auto stats = registry_.create<stats::OutlierDetection>(
      innerScope(cluster.stats().scope(), "outlier_detection."));
  auto detector = std::make_unique<OutlierDetector>(cluster.name(), *plan, &slots_, reports_,
                                                    std::move(stats), &log_, now_ms);
  cluster.setOutlierDetector(std::move(detector));
}

void Outliers::follow(const Cluster& cluster) {
  if (const OutlierDetector* const detector = cluster.outlierDetector()) {
    due_.emplace(detector->due(), cluster.name());
  }
}

std::map<std::string, size_t> Outliers::run(const ClustersByName& clusters, uint64_t now_ms) {
  std::map<std::string, size_t> changed;
  for (const upstream::OutlierReport& report : reports_->take()) {
    const std::shared_ptr<upstream::Host> host = report.host.lock();
    OutlierDetector* const detector = host ? host->outlier()->watch()->detector : nullptr;
    if (detector && detector->onReport(*host, report.kind, now_ms)) {
      ++changed[detector->cluster()];
    }
  }
  while (due() <= now_ms) {
    const auto [at, name] = *due_.begin();
    due_.erase(due_.begin());
    const auto found = clusters.find(name);
    OutlierDetector* const detector =
        found == clusters.end() ? nullptr : found->second->outlierDetector();
    // Another one of that name has a turn of its own.
    if (!detector || detector->due() != at) continue;
    if (const size_t count = detector->onInterval(now_ms)) changed[name] += count;
    due_.emplace(detector->due(), name);
  }
  return changed;
}

}  // namespace fairlead::worker
