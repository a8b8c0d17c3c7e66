// Every scope there is. The control thread's; blocks are shared with the workers that write to them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stats/block.h"
#include "stats/scopes.h"

namespace fairlead::stats {

class Registry {
 public:
  // Threads that write: the control thread, the workers, and the log flusher.
  explicit Registry(unsigned workers) : threads_(workers + 2) {}

  // The block of a scope: the one that exists, or a new one. It leaves the registry when nobody
  // holds it any more.
  template <typename Layout>
  std::shared_ptr<Block<Layout>> create(const Scope& scope) {
    if (std::shared_ptr<BlockBase> existing = find(scope.prefix, Layout::kCounters.data())) {
      return std::static_pointer_cast<Block<Layout>>(existing);
    }
    auto block = std::make_shared<Block<Layout>>(scope, threads_);
    insert(block);
    return block;
  }

  // A statistic by its full name.
  struct Handle {
    std::shared_ptr<BlockBase> block;
    Kind kind;
    size_t index;
  };
  std::optional<Handle> findStat(std::string_view name) const;
  std::optional<uint64_t> value(std::string_view name) const;

  void flushHistograms();
  void resetCounters();

  // All blocks that are alive, sorted by prefix.
  std::vector<std::shared_ptr<BlockBase>> blocks() const;

 private:
  std::shared_ptr<BlockBase> find(const std::string& prefix, const StatName* layout) const;
  void insert(std::shared_ptr<BlockBase> block);

  const size_t threads_;
  std::unordered_map<std::string, std::vector<std::weak_ptr<BlockBase>>> blocks_;
};

}  // namespace fairlead::stats
