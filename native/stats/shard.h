// One thread's numbers of one scope. Written by its owner with plain loads and stores (no
// read-modify-write, no lock); read by anyone. A gauge is what went up less what went down, so that
// a thread may take down what another put up. Slots are made a group at a time, when the first of
// them is written.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "stats/catalogue.gen.h"
#include "stats/codes.h"
#include "stats/histogram.h"
#include "stats/samples.h"

namespace fairlead::stats {

using Slot = std::atomic<uint64_t>;

// All 0, and on cache lines that no other thread writes to.
Slot* makeSlots(size_t count);
// What a shard has made, whatever its scope.
void freeNumbers(std::span<std::atomic<Slot*>> groups,
                 std::span<std::atomic<HistogramCells*>> histograms, CodeCounts* codes);

// A shard as the reader sees it, whatever its scope.
struct ShardView {
  // By group; null: nothing of it was written.
  const std::atomic<Slot*>* groups = nullptr;
  const std::atomic<HistogramCells*>* histograms = nullptr;
  CodeCounts* codes = nullptr;

  const Slot* group(size_t index) const { return groups[index].load(std::memory_order_acquire); }
};

// `L`: a struct of the catalogue.
template <typename L>
class Shard {
 public:
  using Counter = typename L::Counter;
  using Gauge = typename L::Gauge;
  using Histogram = typename L::Histogram;

  explicit Shard(SampleTarget samples = {}) : samples_(samples) {}
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;
  ~Shard() { freeNumbers(groups_, histograms_, codes_.load()); }

  // ---- the owner's ----
  void add(Counter counter, uint64_t amount = 1) { addAt(index(counter), amount); }
  void up(Gauge gauge, uint64_t amount = 1) {
    Slot& slot = slotsOf(L::kGaugePlaces[index(gauge)])[kUp];
    slot.store(slot.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  // A reader that sees what went down also sees what had gone up before it, on whatever thread: it
  // reads this side first.
  void down(Gauge gauge, uint64_t amount = 1) {
    Slot& slot = slotsOf(L::kGaugePlaces[index(gauge)])[kDown];
    slot.store(slot.load(std::memory_order_relaxed) + amount, std::memory_order_release);
  }
  // For gauges that no other thread writes.
  void set(Gauge gauge, uint64_t value) { setAt(index(gauge), value); }
  // Likewise: nobody has ever set it.
  void unset(Gauge gauge) {
    const Place place = L::kGaugePlaces[index(gauge)];
    Slot* slots = groups_[place.group].load(std::memory_order_relaxed);
    if (!slots) return;
    slots[place.slot + kUp].store(0, std::memory_order_relaxed);
    slots[place.slot + kDown].store(0, std::memory_order_relaxed);
  }
  bool isSet(Gauge gauge) const {
    const Place place = L::kGaugePlaces[index(gauge)];
    const Slot* slots = groups_[place.group].load(std::memory_order_relaxed);
    return slots && (slots[place.slot + kUp].load(std::memory_order_relaxed) > 0 ||
                     slots[place.slot + kDown].load(std::memory_order_relaxed) > 0);
  }
  void record(Histogram histogram, uint64_t value) { recordAt(index(histogram), value); }
  // Counts an answer under upstream_rq_<status> and upstream_rq_<n>xx of the variant, and, but for
  // the plain variant of scopes that have it as a counter, under upstream_rq_completed.
  void countResponse(CodeVariant variant, uint16_t status) {
    static_assert(L::kLayout.has_codes, "the catalogue has no codes for this scope");
    codeCounts().add(variant, status);
  }
  // By number, for the control thread's handles.
  void addAt(size_t counter, uint64_t amount) {
    Slot& slot = slotsOf(L::kCounterPlaces[counter])[0];
    slot.store(slot.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  void setAt(size_t gauge, uint64_t value) {
    Slot* slots = slotsOf(L::kGaugePlaces[gauge]);
    uint64_t down = slots[kDown].load(std::memory_order_relaxed);
    // Both sides above 0: that it was set, even to 0, must be seen.
    if (value == 0 && down == 0) down = 1;
    slots[kUp].store(value + down, std::memory_order_relaxed);
    slots[kDown].store(down, std::memory_order_release);
  }
  void recordAt(size_t histogram, uint64_t value) {
    cellsAt(histogram).record(value);
    if (samples_.ring) [[unlikely]] {
      samples_.ring->push({samples_.block, static_cast<uint32_t>(histogram), value});
    }
  }

  // Where the slots of one statistic begin.
  Slot* slotsOf(Place place) {
    Slot* slots = groups_[place.group].load(std::memory_order_relaxed);
    if (!slots) [[unlikely]]
      slots = makeGroup(place.group);
    return slots + place.slot;
  }
  HistogramCells& cellsAt(size_t histogram) {
    std::atomic<HistogramCells*>& place = histograms_[histogram];
    HistogramCells* cells = place.load(std::memory_order_relaxed);
    if (!cells) {
      cells = new HistogramCells;
      place.store(cells, std::memory_order_release);
    }
    return *cells;
  }
  CodeCounts& codeCounts() {
    CodeCounts* codes = codes_.load(std::memory_order_relaxed);
    if (!codes) {
      codes = new CodeCounts;
      codes_.store(codes, std::memory_order_release);
    }
    return *codes;
  }

  // ---- anyone's ----
  ShardView view() const { return {groups_, histograms_, codes_.load(std::memory_order_acquire)}; }

 private:
  template <typename Enum>
  static size_t index(Enum value) {
    return static_cast<size_t>(value);
  }

  [[gnu::noinline, gnu::cold]] Slot* makeGroup(size_t group) {
    Slot* slots = makeSlots(L::kGroups[group]);
    groups_[group].store(slots, std::memory_order_release);
    return slots;
  }

  std::atomic<Slot*> groups_[L::kGroups.size()] = {};
  // One more than there are, so that a scope without any has an array too.
  std::atomic<HistogramCells*> histograms_[static_cast<size_t>(Histogram::kCount) + 1] = {};
  std::atomic<CodeCounts*> codes_{nullptr};
  const SampleTarget samples_;
};

}  // namespace fairlead::stats
