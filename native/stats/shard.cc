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

void freeSlots(Slot* slots) { operator delete[](slots, kLine); }

}  // namespace fairlead::stats
