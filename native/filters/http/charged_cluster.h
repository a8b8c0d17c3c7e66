#pragma once

// The cluster that a request would go to, for filters that count there what they answer in its
// place. Of one filter; its worker's thread.

#include <cstdint>
#include <string_view>
#include <utility>

#include "filters/http/http_filter.h"
#include "upstream/worker_clusters.h"

namespace fairlead::filters {

class ChargedCluster {
 public:
  ChargedCluster() = default;
  ~ChargedCluster() {
    if (cluster_) cluster_->letGo();
  }
  ChargedCluster(const ChargedCluster&) = delete;
  ChargedCluster& operator=(const ChargedCluster&) = delete;

  // Once. There is none where the route goes nowhere, or to a cluster that is not there.
  void find(const FilterScope& scope, const route::RequestView& view) {
    if (!scope.route || !scope.route->cluster) return;
    const route::Target& target = scope.route->cluster->pick(view);
    std::string_view name;
    if (target.cluster) {
      cluster_ = scope.clusters.find(target.cluster.id());
    } else if (view.header(target.cluster_header, &name)) {
      cluster_ = scope.clusters.find(name);
    }
    if (cluster_) cluster_->hold();
  }

  explicit operator bool() const { return cluster_ != nullptr; }
  const upstream::Cluster& operator*() const { return cluster_->cluster(); }
  const upstream::Cluster* operator->() const { return &cluster_->cluster(); }

  // As an answer of the cluster's own.
  void countAnswer(uint16_t status) const {
    stats::Shard<stats::Cluster>& stats = cluster_->stats();
    stats.add(stats::Cluster::Counter::UpstreamRqCompleted);
    stats.countResponse(stats::CodeVariant::All, status);
    stats.countResponse(stats::CodeVariant::Internal, status);
  }

 private:
  // Held; null: there is none.
  upstream::WorkerCluster* cluster_ = nullptr;
};

}  // namespace fairlead::filters
