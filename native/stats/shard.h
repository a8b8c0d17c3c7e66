// One thread's numbers of one scope. Written by its owner with plain loads and stores (no
// read-modify-write, no lock); read by anyone, relaxed. A gauge is what went up less what went down,
// so that a thread may take down what another put up.
#pragma once

#include <atomic>
#include <cstdint>

#include "stats/catalogue.gen.h"
#include "stats/codes.h"
#include "stats/histogram.h"

namespace fairlead::stats {

using Slot = std::atomic<uint64_t>;

// A shard as the reader sees it, whatever its scope.
struct ShardView {
  const Slot* counters = nullptr;
  const Slot* ups = nullptr;
  const Slot* downs = nullptr;
  const std::atomic<HistogramCells*>* histograms = nullptr;
  const CodeCounts* codes = nullptr;
};

template <typename Layout>
class alignas(64) Shard {
 public:
  using Counter = typename Layout::Counter;
  using Gauge = typename Layout::Gauge;
  using Histogram = typename Layout::Histogram;

  Shard() = default;
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;
  ~Shard() {
    for (std::atomic<HistogramCells*>& cells : histograms_) delete cells.load();
    delete codes_.load();
  }

  // ---- the owner's ----
  void add(Counter counter, uint64_t amount = 1) { bump(counters_[index(counter)], amount); }
  void up(Gauge gauge, uint64_t amount = 1) { bump(ups_[index(gauge)], amount); }
  void down(Gauge gauge, uint64_t amount = 1) { bump(downs_[index(gauge)], amount); }
  // For gauges that only this shard's thread writes. One more on both sides says that it was set.
  void set(Gauge gauge, uint64_t value) {
    downs_[index(gauge)].store(1, std::memory_order_relaxed);
    ups_[index(gauge)].store(value + 1, std::memory_order_relaxed);
  }
  void record(Histogram histogram, uint64_t value) {
    std::atomic<HistogramCells*>& place = histograms_[index(histogram)];
    HistogramCells* cells = place.load(std::memory_order_relaxed);
    if (!cells) {
      cells = new HistogramCells;
      place.store(cells, std::memory_order_release);
    }
    cells->record(value);
  }
  void countResponse(CodeVariant variant, uint16_t status) {
    CodeCounts* codes = codes_.load(std::memory_order_relaxed);
    if (!codes) {
      codes = new CodeCounts;
      codes_.store(codes, std::memory_order_release);
    }
    codes->add(variant, status);
  }
  // By number, for the control thread's handles.
  void addAt(size_t counter, uint64_t amount) { bump(counters_[counter], amount); }
  void setAt(size_t gauge, uint64_t value) { set(static_cast<Gauge>(gauge), value); }
  void recordAt(size_t histogram, uint64_t value) {
    record(static_cast<Histogram>(histogram), value);
  }

  // ---- anyone's ----
  ShardView view() const {
    return {counters_, ups_, downs_, histograms_, codes_.load(std::memory_order_acquire)};
  }

 private:
  template <typename Enum>
  static size_t index(Enum value) {
    return static_cast<size_t>(value);
  }
  static void bump(Slot& slot, uint64_t amount) {
    slot.store(slot.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }

  // One more than there are, so that a scope without a kind has an array too.
  Slot counters_[static_cast<size_t>(Counter::kCount) + 1] = {};
  Slot ups_[static_cast<size_t>(Gauge::kCount) + 1] = {};
  Slot downs_[static_cast<size_t>(Gauge::kCount) + 1] = {};
  std::atomic<HistogramCells*> histograms_[static_cast<size_t>(Histogram::kCount) + 1] = {};
  std::atomic<CodeCounts*> codes_{nullptr};
};

}  // namespace fairlead::stats
