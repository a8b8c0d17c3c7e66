// All clusters as one worker knows them, by the numbers of their names (base/name_ids.h): what a
// request needs of one is made when the first asks for it. The worker's thread.
#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "upstream/worker_cluster.h"

namespace fairlead::upstream {

class WorkerClusters : private net::Deferred {
 public:
  explicit WorkerClusters(const UpstreamContext& context) : context_(context) {
    context_.clusters = this;
  }
  ~WorkerClusters();

  UpstreamContext& context() { return context_; }
  // Null: there is no such cluster.
  WorkerCluster* find(uint32_t id) {
    if (id >= entries_.size()) return nullptr;
    Entry& entry = entries_[id];
    return entry.live ? entry.live.get() : make(entry);
  }
  // Of requests that name their cluster.
  WorkerCluster* find(std::string_view name) {
    const auto found = ids_.find(name);
    return found == ids_.end() ? nullptr : find(found->second);
  }
  // Null: there is none. Makes nothing of it.
  const Cluster* cluster(uint32_t id) const {
    return id < entries_.size() ? entries_[id].cluster.get() : nullptr;
  }
  const std::shared_ptr<const HostSet>& sharedHosts(uint32_t id) const {
    return entries_[id].hosts;
  }
  // Null: there is no such cluster.
  const HostSet* hosts(uint32_t id) const {
    return id < entries_.size() ? entries_[id].hosts.get() : nullptr;
  }

  // Takes the place of a cluster of the same name, whose connections end after their requests.
  // Null: there is none from here on.
  void set(uint32_t id, std::shared_ptr<Cluster> cluster, std::shared_ptr<const HostSet> hosts);
  // As WorkerCluster's.
  void dropUnwell(uint32_t id) {
    if (id < entries_.size() && entries_[id].live) entries_[id].live->dropUnwell();
  }
  // Ends what is left of connections.
  void clear();
  // Clusters have been let go of since the last call, and the last holder may have been here.
  bool takeLeft() { return std::exchange(has_left_, false); }

 private:
  struct Entry {
    std::shared_ptr<Cluster> cluster;
    std::shared_ptr<const HostSet> hosts;
    // Null until a request asks for it.
    std::unique_ptr<WorkerCluster> live;
  };

  WorkerCluster* make(Entry& entry);
  // The hosts of the cluster that this proxy is one of.
  void setLocalHosts(std::shared_ptr<const HostSet> hosts);
  void retire(std::unique_ptr<WorkerCluster> cluster);
  void onDeferred() override;

  UpstreamContext context_;
  std::vector<Entry> entries_;
  // Names are the clusters'.
  std::unordered_map<std::string_view, uint32_t> ids_;
  // This proxy and its like. Null: there is no such cluster.
  std::shared_ptr<const HostSet> local_hosts_;
  bool has_left_ = false;
  // Replaced or removed, with requests under way.
  std::vector<std::unique_ptr<WorkerCluster>> leaving_;
};

}  // namespace fairlead::upstream
