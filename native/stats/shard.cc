#include "stats/shard.h"

#include <new>

namespace fairlead::stats {

namespace {

constexpr std::align_val_t kLine{64};

}  // namespace

Slot* makeSlots(size_t count) {
  constexpr size_t kSlotsPerLine = static_cast<size_t>(kLine) / sizeof(Slot);
  const size_t whole_lines = (count + kSlotsPerLine - 1) / kSlotsPerLine * kSlotsPerLine;
  return new (kLine) Slot[whole_lines]();
}

void freeNumbers(std::span<std::atomic<Slot*>> groups,
                 std::span<std::atomic<HistogramCells*>> histograms, CodeCounts* codes) {
  for (std::atomic<Slot*>& group : groups) operator delete[](group.load(), kLine);
  for (std::atomic<HistogramCells*>& cells : histograms) delete cells.load();
  delete codes;
}

}  // namespace fairlead::stats
