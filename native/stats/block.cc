#include "stats/block.h"

#include <algorithm>

namespace fairlead::stats {

namespace {

const Distribution kNothing;
const std::string kNoText;

uint64_t valueAt(const std::vector<uint64_t>& values, size_t index) {
  return index < values.size() ? values[index] : 0;
}

}  // namespace

uint64_t BlockBase::rawCounter(size_t index) const {
  uint64_t sum = valueAt(imported_counters_, index);
  for (size_t i = 0; i < shardCount(); ++i) {
    if (const auto shard = view(i)) sum += shard->counters[index].load(std::memory_order_relaxed);
  }
  return sum;
}

uint64_t BlockBase::baseline(size_t counter) const { return valueAt(counter_baseline_, counter); }

Reading BlockBase::counter(size_t index) const {
  const uint64_t raw = rawCounter(index);
  return {raw - baseline(index), raw > 0 || isTouched(index)};
}

void BlockBase::readCounters(std::vector<Reading>* readings) const {
  const size_t count = layout_.counters.size();
  readings->assign(count, {0, false});
  for (size_t j = 0; j < imported_counters_.size(); ++j) {
    (*readings)[j].value = imported_counters_[j];
  }
  for (size_t i = 0; i < shardCount(); ++i) {
    const auto shard = view(i);
    if (!shard) continue;
    for (size_t j = 0; j < count; ++j) {
      (*readings)[j].value += shard->counters[j].load(std::memory_order_relaxed);
    }
  }
  for (size_t j = 0; j < count; ++j) {
    Reading& reading = (*readings)[j];
    reading = {reading.value - baseline(j), reading.value > 0 || isTouched(j)};
  }
}

uint64_t BlockBase::rawDowns(size_t gauge) const {
  uint64_t sum = 0;
  for (size_t i = 0; i < shardCount(); ++i) {
    if (const auto shard = view(i)) sum += shard->downs[gauge].load(std::memory_order_acquire);
  }
  return sum;
}

uint64_t BlockBase::rawUps(size_t gauge) const {
  uint64_t sum = 0;
  for (size_t i = 0; i < shardCount(); ++i) {
    if (const auto shard = view(i)) sum += shard->ups[gauge].load(std::memory_order_acquire);
  }
  return sum;
}

Reading BlockBase::gauge(size_t index) const {
  const uint64_t imported = valueAt(imported_gauges_, index);
  const Reading own = ownGauge(index);
  return {own.value + imported, own.used || imported > 0};
}

Reading BlockBase::ownGauge(size_t index) const {
  // What goes down while the other side is read would count as still up: read again, though not for
  // ever. What went down comes first in any case, so that no gauge is seen below 0 (Shard::down).
  constexpr int kTries = 4;
  uint64_t downs = rawDowns(index);
  uint64_t ups = rawUps(index);
  for (int i = 1; i < kTries; ++i) {
    const uint64_t downs_now = rawDowns(index);
    if (downs_now == downs) break;
    downs = downs_now;
    ups = rawUps(index);
  }
  return {ups - downs, ups > 0 || downs > 0};
}

void BlockBase::readGauges(std::vector<Reading>* readings) const {
  readings->assign(layout_.gauges.size(), {0, false});
  const bool has_shard = [this] {
    for (size_t i = 0; i < shardCount(); ++i) {
      if (view(i)) return true;
    }
    return false;
  }();
  if (!has_shard && imported_gauges_.empty()) return;
  for (size_t i = 0; i < readings->size(); ++i) (*readings)[i] = gauge(i);
}

const BlockBase::Flushed* BlockBase::flushed(size_t histogram) const {
  return histogram < histograms_.size() ? histograms_[histogram].get() : nullptr;
}

const Distribution& BlockBase::interval(size_t histogram) const {
  const Flushed* known = flushed(histogram);
  return known && known->interval ? *known->interval : kNothing;
}

const Distribution& BlockBase::total(size_t histogram) const {
  const Flushed* known = flushed(histogram);
  return known && known->total ? *known->total : kNothing;
}

std::shared_ptr<const Distribution> BlockBase::heldInterval(size_t histogram) const {
  const Flushed* known = flushed(histogram);
  return known ? known->interval : nullptr;
}

std::shared_ptr<const Distribution> BlockBase::heldTotal(size_t histogram) const {
  const Flushed* known = flushed(histogram);
  return known ? known->total : nullptr;
}

bool BlockBase::isRecorded(size_t histogram) const {
  for (size_t i = 0; i < shardCount(); ++i) {
    const auto shard = view(i);
    if (shard && shard->histograms[histogram].load(std::memory_order_relaxed)) return true;
  }
  return false;
}

const std::string& BlockBase::text(size_t index) const {
  return isTextSet(index) ? *texts_[index] : kNoText;
}

void BlockBase::setText(size_t text, std::string value) {
  texts_.resize(layout_.texts.size());
  texts_[text] = std::move(value);
}

std::vector<BlockBase::Code> BlockBase::rawCodes(std::optional<CodeVariant> only) const {
  std::vector<Code> codes;
  if (!layout_.has_codes) return codes;
  const auto count = [&codes](CodeName name, uint64_t value) {
    for (Code& code : codes) {
      if (code.name == name) {
        code.value += value;
        return;
      }
    }
    codes.push_back({name, value});
  };
  const auto isWanted = [only](CodeVariant variant) { return !only || *only == variant; };
  for (const CodeName name : shown_codes_) {
    if (isWanted(name.variant())) codes.push_back({name, 0});
  }
  // Under all names that an answer of this status is counted.
  const auto countAll = [&](CodeName status, uint64_t value) {
    const CodeVariant variant = status.variant();
    if (!isWanted(variant)) return;
    const int number = status.statusNumber();
    count(status, value);
    if (number > 0) count(CodeName::family(variant, number / 100), value);
    const bool is_counter = variant == CodeVariant::All && layout_.has_completed;
    if (!is_counter) count(CodeName::completed(variant), value);
  };
  for (const Code& code : imported_codes_) countAll(code.name, code.value);
  for (size_t i = 0; i < shardCount(); ++i) {
    const auto shard = view(i);
    if (!shard || !shard->codes) continue;
    shard->codes->forEach([&](uint16_t status, CodeVariant variant, uint64_t value) {
      countAll(status == 0 ? CodeName::unknown(variant) : CodeName::status(variant, status), value);
    });
  }
  std::sort(codes.begin(), codes.end(),
            [](const Code& a, const Code& b) { return a.name < b.name; });
  return codes;
}

std::vector<BlockBase::Code> BlockBase::codes(std::optional<CodeVariant> only) const {
  std::vector<Code> codes = rawCodes(only);
  for (Code& code : codes) code.used = code.value > 0;
  auto code = codes.begin();
  for (const Code& before : code_baseline_) {
    if (only && before.name.variant() != *only) continue;
    while (code->name < before.name) ++code;
    code->value -= before.value;
  }
  return codes;
}

void BlockBase::showCodes(std::span<const CodeName> names) {
  for (const CodeName name : names) {
    if (std::find(shown_codes_.begin(), shown_codes_.end(), name) == shown_codes_.end()) {
      shown_codes_.push_back(name);
    }
  }
}

void BlockBase::latchCounters(std::vector<Latched>* counters) {
  const size_t count = layout_.counters.size();
  counters->assign(count, {0, 0, false});
  sent_counters_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t raw = rawCounter(i);
    (*counters)[i] = {raw - baseline(i), raw - sent_counters_[i], raw > 0 || isTouched(i)};
    sent_counters_[i] = raw;
  }
}

std::vector<BlockBase::LatchedCode> BlockBase::latchCodes() {
  std::vector<Code> codes = rawCodes();
  std::vector<LatchedCode> latched;
  latched.reserve(codes.size());
  // Names only come, none goes: both earlier states are found in the same order.
  auto reset = code_baseline_.begin();
  auto sent = sent_codes_.begin();
  const auto before = [](auto* earlier, auto end, CodeName name) -> uint64_t {
    while (*earlier != end && (*earlier)->name < name) ++*earlier;
    return *earlier != end && (*earlier)->name == name ? (*earlier)->value : 0;
  };
  for (const Code& code : codes) {
    if (code.value == 0) continue;
    latched.push_back({code.name, code.value - before(&reset, code_baseline_.end(), code.name),
                       code.value - before(&sent, sent_codes_.end(), code.name)});
  }
  sent_codes_ = std::move(codes);
  return latched;
}

const std::vector<bool>& BlockBase::rejectedNames(Kind kind) const {
  std::vector<bool>& rejected = rejected_[static_cast<size_t>(kind)];
  const std::span<const StatName> names = layout_.names(kind);
  if (rejected.size() == names.size()) return rejected;
  std::string full_name = scope_.prefix;
  for (const StatName& stat : names) {
    full_name.resize(scope_.prefix.size());
    full_name += stat.name;
    rejected.push_back((*rejects_)(full_name));
  }
  return rejected;
}

void BlockBase::flushHistograms(BinCounts* scratch) {
  for (size_t i = 0; i < layout_.histograms.size(); ++i) {
    uint64_t recorded = 0;
    for (size_t j = 0; j < shardCount(); ++j) {
      const auto shard = view(j);
      if (!shard) continue;
      const HistogramCells* cells = shard->histograms[i].load(std::memory_order_acquire);
      if (cells) recorded += cells->recorded();
    }
    if (recorded == 0) continue;
    if (histograms_.empty()) histograms_.resize(layout_.histograms.size());
    if (!histograms_[i]) histograms_[i] = std::make_unique<Flushed>();
    Flushed& flushed = *histograms_[i];
    if (recorded == flushed.recorded) {
      flushed.interval.reset();
      continue;
    }
    scratch->clear();
    for (size_t j = 0; j < shardCount(); ++j) {
      const auto shard = view(j);
      if (!shard) continue;
      const HistogramCells* cells = shard->histograms[i].load(std::memory_order_acquire);
      if (cells) cells->addTo(scratch);
    }
    auto total = std::make_shared<const Distribution>(*scratch);
    flushed.recorded = recorded;
    // Of the first flush, both are the same.
    flushed.interval =
        flushed.total ? std::make_shared<const Distribution>(total->since(*flushed.total)) : total;
    flushed.total = std::move(total);
  }
}

void BlockBase::addImported(size_t counter, uint64_t amount) {
  imported_counters_.resize(layout_.counters.size());
  imported_counters_[counter] += amount;
}

void BlockBase::addImportedCode(CodeName status, uint64_t amount) {
  for (Code& code : imported_codes_) {
    if (code.name != status) continue;
    code.value += amount;
    return;
  }
  imported_codes_.push_back({status, amount});
}

void BlockBase::setImported(size_t gauge, uint64_t value) {
  imported_gauges_.resize(layout_.gauges.size());
  imported_gauges_[gauge] = value;
}

void BlockBase::markImportedSent() {
  sent_counters_ = imported_counters_;
  if (!imported_codes_.empty()) sent_codes_ = rawCodes();
}

void BlockBase::resetCounters() {
  const size_t count = layout_.counters.size();
  counter_baseline_.resize(count);
  for (size_t i = 0; i < count; ++i) counter_baseline_[i] = rawCounter(i);
  code_baseline_ = rawCodes();
}

void BlockBase::addOwn(size_t counter, uint64_t amount) {
  if (amount > 0) {
    addToOwnShard(counter, amount);
    return;
  }
  touched_.resize(layout_.counters.size());
  touched_[counter] = true;
}

}  // namespace fairlead::stats
