// Scopes whose last holder is gone, on whatever thread that was: they wait here until the control
// thread takes them out of the registry. Nobody writes to them any more.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "stats/block.h"

namespace fairlead::stats {

class EndedScopes {
 public:
  using Blocks = std::vector<std::shared_ptr<BlockBase>>;

  // A reference to the block; when the last copy of it goes, the block is put into `scopes`.
  static std::shared_ptr<BlockBase> hold(const std::shared_ptr<BlockBase>& block,
                                         const std::shared_ptr<EndedScopes>& scopes) {
    // The deleter is kept as long as the block refers to it: it must hold nothing by then.
    std::shared_ptr<BlockBase> held(block.get(), [block = block, scopes = scopes](auto*) mutable {
      std::exchange(scopes, nullptr)->add(std::move(block));
    });
    block->setHolders(held);
    return held;
  }

  // Those that came since the last call.
  Blocks take() {
    if (!has_any_.load(std::memory_order_relaxed)) return {};
    const std::lock_guard lock(mutex_);
    has_any_.store(false, std::memory_order_relaxed);
    return std::exchange(blocks_, {});
  }

 private:
  void add(std::shared_ptr<BlockBase> block) {
    const std::lock_guard lock(mutex_);
    blocks_.push_back(std::move(block));
    has_any_.store(true, std::memory_order_relaxed);
  }

  Mutex mutex_;
  Blocks blocks_;
  std::atomic<bool> has_any_{false};
};

}  // namespace fairlead::stats
