#include "stats/block.h"

namespace fairlead::stats {

uint64_t BlockBase::rawCounter(size_t index) const {
  uint64_t sum = 0;
  for (size_t i = 0; i < shardCount(); ++i) {
    if (const auto shard = view(i)) sum += shard->counters[index].load(std::memory_order_relaxed);
  }
  return sum;
}

uint64_t BlockBase::counter(size_t index, bool* used) const {
  const uint64_t raw = rawCounter(index);
  if (used) *used = raw > 0;
  return raw - (index < counter_baseline_.size() ? counter_baseline_[index] : 0);
}

uint64_t BlockBase::gauge(size_t index, bool* used) const {
  uint64_t ups = 0;
  uint64_t downs = 0;
  for (size_t i = 0; i < shardCount(); ++i) {
    const auto shard = view(i);
    if (!shard) continue;
    ups += shard->ups[index].load(std::memory_order_relaxed);
    downs += shard->downs[index].load(std::memory_order_relaxed);
  }
  if (used) *used = ups > 0;
  return ups > downs ? ups - downs : 0;
}

const Distribution* BlockBase::interval(size_t histogram) const {
  if (histogram >= histograms_.size() || !histograms_[histogram]) return nullptr;
  return &histograms_[histogram]->interval;
}

const Distribution* BlockBase::total(size_t histogram) const {
  if (histogram >= histograms_.size() || !histograms_[histogram]) return nullptr;
  return &histograms_[histogram]->total;
}

bool BlockBase::isHistogramUsed(size_t histogram) const { return total(histogram) != nullptr; }

std::map<std::string, uint64_t> BlockBase::rawCodes() const {
  std::map<std::string, uint64_t> counts;
  for (size_t i = 0; i < shardCount(); ++i) {
    const auto shard = view(i);
    if (!shard || !shard->codes) continue;
    shard->codes->forEach([&counts](uint16_t status, CodeVariant variant, uint64_t count) {
      const std::string prefix =
          std::string(kCodeVariantPrefixes[static_cast<int>(variant)]) + "upstream_rq_";
      counts[prefix + std::to_string(status)] += count;
      counts[prefix + std::to_string(status / 100) + "xx"] += count;
      // Its plain form is an ordinary counter.
      if (variant != CodeVariant::All) counts[prefix + "completed"] += count;
    });
  }
  return counts;
}

std::vector<BlockBase::Code> BlockBase::codes() const {
  std::vector<Code> result;
  for (const auto& [name, count] : rawCodes()) {
    const auto before = code_baseline_.find(name);
    result.push_back({name, count - (before == code_baseline_.end() ? 0 : before->second)});
  }
  return result;
}

void BlockBase::flushHistograms() {
  const size_t count = names(Kind::Histogram).size();
  for (size_t i = 0; i < count; ++i) {
    std::vector<uint64_t> counts;
    for (size_t shard = 0; shard < shardCount(); ++shard) {
      const auto shown = view(shard);
      if (!shown) continue;
      const HistogramCells* cells = shown->histograms[i].load(std::memory_order_acquire);
      if (cells) cells->addTo(counts);
    }
    if (counts.empty()) continue;
    if (histograms_.empty()) histograms_.resize(count);
    if (!histograms_[i]) histograms_[i] = std::make_unique<Merged>();
    Merged& merged = *histograms_[i];
    merged.interval = Distribution(counts, merged.counts);
    if (!merged.interval.empty()) merged.total = Distribution(counts, {});
    merged.counts = std::move(counts);
  }
}

void BlockBase::resetCounters() {
  const size_t count = names(Kind::Counter).size();
  counter_baseline_.resize(count);
  for (size_t i = 0; i < count; ++i) counter_baseline_[i] = rawCounter(i);
  code_baseline_ = rawCodes();
}

}  // namespace fairlead::stats
