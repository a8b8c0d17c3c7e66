#include "stats/histogram.h"

namespace fairlead::stats {

double lowerEdge(Bin bin) {
  if (bin == 0) return 0;
  const int decade = (bin - 1) / kBinsPerDecade;
  const double digits = (bin - 1) % kBinsPerDecade + 10;
  return decade == 0 ? digits / 10 : digits * static_cast<double>(kPowersOfTen[decade - 1]);
}

double binWidth(Bin bin) {
  if (bin == 0) return 0;
  const int decade = (bin - 1) / kBinsPerDecade;
  return decade == 0 ? 0.1 : static_cast<double>(kPowersOfTen[decade - 1]);
}

HistogramCells::~HistogramCells() {
  for (std::atomic<Page*>& page : pages_) delete page.load();
}

HistogramCells::Page* HistogramCells::makePage(int decade) {
  auto* page = new Page;
  pages_[decade - 1].store(page, std::memory_order_release);
  return page;
}

void HistogramCells::addTo(BinCounts* counts) const {
  for (uint64_t value = 0; value < 10; ++value) {
    const uint64_t count = units_[value].load(std::memory_order_relaxed);
    if (count > 0) counts->add(binOf(value), count);
  }
  for (int decade = 1; decade < kDecades; ++decade) {
    const Page* page = pages_[decade - 1].load(std::memory_order_acquire);
    if (!page) continue;
    for (int i = 0; i < kBinsPerDecade; ++i) {
      const uint64_t count = page->counts[i].load(std::memory_order_relaxed);
      if (count > 0) counts->add(static_cast<Bin>(1 + decade * kBinsPerDecade + i), count);
    }
  }
}

}  // namespace fairlead::stats
