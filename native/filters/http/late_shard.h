// One worker's numbers of a scope that the control thread learns of afterwards: kept here until it
// has made statistics of them, and in those from then on.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "stats/registry.h"

namespace fairlead::filters {

template <typename Layout>
class LateShard {
 public:
  // The worker's: where it counts now.
  stats::Shard<Layout>& of(unsigned worker) {
    stats::Block<Layout>* const block = block_.load(std::memory_order_acquire);
    return block ? *block->shard(worker + 1) : before_;
  }

  // The control thread's. `block`: of the scope, and the same each time; it outlives this.
  void publish(stats::Block<Layout>& block) {
    block_.store(&block, std::memory_order_release);
    // The worker may still be writing there: what it adds comes with the next call.
    const stats::ShardView before = before_.view();
    for (size_t i = 0; i < kCounters; ++i) {
      const stats::Place place = Layout::kCounterPlaces[i];
      const stats::Slot* const group = before.group(place.group);
      if (group) moveCounter(i, group[place.slot].load(std::memory_order_relaxed), block);
    }
    for (size_t i = 0; i < kHistograms; ++i) {
      const auto* const cells = before.histograms[i].load(std::memory_order_acquire);
      if (cells) moveHistogram(i, *cells, block);
    }
  }

 private:
  static constexpr size_t kCounters = static_cast<size_t>(Layout::Counter::kCount);
  static constexpr size_t kHistograms = static_cast<size_t>(Layout::Histogram::kCount);

  void moveCounter(size_t counter, uint64_t now, stats::Block<Layout>& block) {
    const uint64_t added = now - std::exchange(moved_[counter], now);
    if (added > 0) block.addOwn(counter, added);
  }

  // By the bins that the values are in, which are all that histograms know.
  void moveHistogram(size_t histogram, const stats::HistogramCells& cells,
                     stats::Block<Layout>& block) {
    std::unique_ptr<stats::BinCounts>& moved = moved_bins_[histogram];
    if (!moved) moved = std::make_unique<stats::BinCounts>();
    stats::BinCounts now;
    cells.addTo(&now);
    for (int i = 0; i < now.end(); ++i) {
      const auto bin = static_cast<stats::Bin>(i);
      const auto value = static_cast<uint64_t>(stats::lowerEdge(bin));
      const uint64_t added = now[bin] - (*moved)[bin];
      for (uint64_t n = 0; n < added; ++n) block.recordOwn(histogram, value);
      if (added > 0) moved->add(bin, added);
    }
  }

  stats::Shard<Layout> before_;
  // Null: nobody has asked for statistics yet.
  std::atomic<stats::Block<Layout>*> block_{nullptr};
  // What went from `before_` to the block.
  std::array<uint64_t, kCounters> moved_{};
  // One more than there are, so that a scope without any has an array, too.
  std::array<std::unique_ptr<stats::BinCounts>, kHistograms + 1> moved_bins_;
};

}  // namespace fairlead::filters
