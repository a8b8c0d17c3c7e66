#include "stats/walk.h"

#include <algorithm>

namespace fairlead::stats {

bool Walk::next(std::vector<Row>* rows, bool histograms) {
  rows->clear();
  if (at_ == blocks_.size()) return false;
  const std::string& first = blocks_[at_]->scope().prefix;
  do {
    const BlockBase& block = *blocks_[at_++];
    if (histograms) {
      addHistograms(block, rows);
    } else {
      addValues(block, rows);
    }
  } while (at_ < blocks_.size() && blocks_[at_]->scope().prefix.starts_with(first));
  std::sort(rows->begin(), rows->end(), [](const Row& a, const Row& b) { return a.name < b.name; });
  return true;
}

void Walk::addValues(const BlockBase& block, std::vector<Row>* rows) const {
  const std::string& prefix = block.scope().prefix;
  const auto add = [&](Kind kind) {
    const std::span<const StatName> names = block.names(kind);
    for (size_t i = 0; i < names.size(); ++i) {
      bool used = false;
      const uint64_t value =
          kind == Kind::Counter ? block.counter(i, &used) : block.gauge(i, &used);
      if (!used && (query_.used_only || names[i].lazy)) continue;
      std::string name = prefix;
      name += names[i].name;
      if (isWanted(name)) rows->push_back({std::move(name), &block, kind, i, value});
    }
  };
  if (query_.counters) {
    add(Kind::Counter);
    for (BlockBase::Code& code : block.codes()) {
      std::string name = prefix + code.name;
      if (isWanted(name)) rows->push_back({std::move(name), &block, Kind::Counter, 0, code.value});
    }
  }
  if (query_.gauges) add(Kind::Gauge);
}

void Walk::addHistograms(const BlockBase& block, std::vector<Row>* rows) const {
  if (!query_.histograms) return;
  const std::span<const StatName> names = block.names(Kind::Histogram);
  for (size_t i = 0; i < names.size(); ++i) {
    if (!block.isHistogramUsed(i) && (query_.used_only || names[i].lazy)) continue;
    std::string name = block.scope().prefix;
    name += names[i].name;
    if (isWanted(name)) rows->push_back({std::move(name), &block, Kind::Histogram, i, 0});
  }
}

}  // namespace fairlead::stats
