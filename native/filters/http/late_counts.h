// Statistics whose scopes nobody knows before requests come: of clusters, and of policies of
// routes, as filters count them. Workers count by themselves; the control thread makes statistics
// of it when they are wanted.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "filters/http/late_shard.h"
#include "stats/registry.h"
#include "stats/scopes.h"

namespace fairlead::filters {

// Owned by filters' configurations.
class LateCounts {
 public:
  virtual ~LateCounts() = default;
  // The control thread's.
  virtual void publish(stats::Registry& registry) = 0;
};

// All that there are. The control thread's.
class LateCountsOfAll {
 public:
  void add(const std::shared_ptr<LateCounts>& counts) { counts_.push_back(counts); }
  // What was counted since the last time becomes visible.
  void publish(stats::Registry& registry);

 private:
  std::vector<std::weak_ptr<LateCounts>> counts_;
};

// Of a filter, by names that the configuration has: as many as that.
template <typename Layout>
class NamedCounts : public LateCounts {
 public:
  // A worker's.
  void add(unsigned worker, std::string_view name, typename Layout::Counter counter) {
    Worker& own = workers_[worker];
    auto found = own.by_name.find(name);
    if (found == own.by_name.end()) {
      const std::lock_guard lock(own.mutex);
      found = own.by_name.try_emplace(std::string(name)).first;
    }
    found->second.of(worker).add(counter);
  }

  void publish(stats::Registry& registry) override {
    for (Worker& worker : workers_) {
      const std::lock_guard lock(worker.mutex);
      for (auto& [name, counts] : worker.by_name) {
        auto& block = blocks_[name];
        if (!block) block = registry.create<Layout>(scopeOf(name));
        counts.publish(*block);
      }
    }
  }

 protected:
  explicit NamedCounts(unsigned workers) : workers_(workers) {}
  virtual stats::Scope scopeOf(const std::string& name) const = 0;

 private:
  struct Worker {
    // Held by whoever adds names, and by the reader; a worker needs none to find its own.
    Mutex mutex;
    std::map<std::string, LateShard<Layout>, std::less<>> by_name;
  };

  std::vector<Worker> workers_;
  // The control thread's, by name.
  std::map<std::string, std::shared_ptr<stats::Block<Layout>>> blocks_;
};

// By the cluster that requests go to.
template <typename Layout>
class ClusterCounts final : public NamedCounts<Layout> {
 public:
  // `scope_in`: that of the counts, within a cluster's.
  ClusterCounts(unsigned workers, std::function<stats::Scope(const stats::Scope& cluster)> scope_in)
      : NamedCounts<Layout>(workers), scope_in_(std::move(scope_in)) {}

 private:
  stats::Scope scopeOf(const std::string& cluster) const override {
    return scope_in_(stats::clusterScope(cluster));
  }

  const std::function<stats::Scope(const stats::Scope& cluster)> scope_in_;
};

}  // namespace fairlead::filters
