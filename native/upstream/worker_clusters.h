// All clusters as one worker knows them, by name. Names are looked up when routes are bound to a
// worker, not on the way of a request (but for clusters that a header names). The worker's thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "upstream/worker_cluster.h"

namespace fairlead::upstream {

class WorkerClusters {
 public:
  explicit WorkerClusters(const UpstreamContext& context) : context_(context) {}

  UpstreamContext& context() { return context_; }
  // Null: there is no such cluster.
  WorkerCluster* find(std::string_view name) const {
    const auto found = clusters_.find(name);
    return found == clusters_.end() ? nullptr : found->second.get();
  }
  // Grows whenever a cluster comes or goes: who keeps pointers looks names up again then.
  uint64_t generation() const { return generation_; }

  // Takes the place of a cluster of the same name, whose connections end after their requests.
  void set(std::shared_ptr<Cluster> cluster, std::shared_ptr<const HostSet> hosts) {
    ++generation_;
    std::erase_if(leaving_, [](const auto& left) { return left->isEmpty(); });
    auto& place = clusters_[cluster->name()];
    if (place) {
      place->drain();
      if (!place->isEmpty()) leaving_.push_back(std::move(place));
    }
    place = std::make_unique<WorkerCluster>(std::move(cluster), context_);
    place->setHosts(std::move(hosts));
  }
  void setHosts(std::string_view name, std::shared_ptr<const HostSet> hosts) {
    if (WorkerCluster* cluster = find(name)) cluster->setHosts(std::move(hosts));
  }
  void clear() {
    ++generation_;
    clusters_.clear();
    leaving_.clear();
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };

  UpstreamContext context_;
  std::unordered_map<std::string, std::unique_ptr<WorkerCluster>, Hash, std::equal_to<>> clusters_;
  // Replaced, with requests under way.
  std::vector<std::unique_ptr<WorkerCluster>> leaving_;
  uint64_t generation_ = 0;
};

}  // namespace fairlead::upstream
