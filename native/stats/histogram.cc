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

void HistogramCells::takeOver(HistogramCells& other) {
  const auto move = [](std::atomic<uint64_t>& from, std::atomic<uint64_t>& to) {
    to.store(to.load(std::memory_order_relaxed) + from.exchange(0), std::memory_order_relaxed);
  };
  for (int value = 0; value < 10; ++value) move(other.units_[value], units_[value]);
  for (int decade = 1; decade < kDecades; ++decade) {
    Page* const from = other.pages_[decade - 1].load();
    if (!from) continue;
    Page* to = pages_[decade - 1].load();
    if (!to) to = makePage(decade);
    for (int i = 0; i < kBinsPerDecade; ++i) move(from->counts[i], to->counts[i]);
  }
  recorded_.store(recorded_.load(std::memory_order_relaxed) + other.recorded_.exchange(0),
                  std::memory_order_release);
}

}  // namespace fairlead::stats
