#include "stats/block.h"

#include <algorithm>

namespace fairlead::stats {

namespace {

const Distribution kNothing;
const std::string kNoText;

CodeName nameOf(uint16_t status, CodeVariant variant) {
  if (status == 0) return CodeName::unknown(variant);
  if (status == CodeCounts::kCompletedOnly) return CodeName::completed(variant);
  return CodeName::status(variant, status);
}

}  // namespace

const BlockBase::Memory BlockBase::kNoMemory;

bool BlockBase::isWritten() const {
  bool is_written = false;
  forEachShard([&](const ShardView& shard) { is_written = is_written || shard.group(0); });
  return is_written;
}

bool BlockBase::isDeferred(Kind kind, size_t index) const {
  const std::string_view name = layout_.names(kind)[index].name;
  const bool is_of_traffic = name.starts_with("upstream_") || name == "bind_errors" ||
                             name == "original_dst_host_invalid" ||
                             name == "retry_or_shadow_abandoned";
  return is_of_traffic && !isWritten();
}

bool BlockBase::isOfWorkers(Kind kind, size_t index) const {
  if (&layout_ == &Listener::kLayout) {
    return !layout_.names(kind)[index].name.ends_with("extension_config_missing");
  }
  if (&layout_ == &ListenerWorker::kLayout || &layout_ == &ServerWorker::kLayout) return true;
  const bool is_of_threads =
      &layout_ == &ClusterManagerThread::kLayout || &layout_ == &Dispatcher::kLayout;
  return is_of_threads && scope_.prefix.find("worker_") != std::string::npos;
}

namespace {

uint64_t valueAt(const ShardView& shard, Place place) {
  const Slot* const slots = shard.group(place.group);
  // Acquire, for what a gauge went down by.
  return slots ? slots[place.slot].load(std::memory_order_acquire) : 0;
}

}  // namespace

uint64_t BlockBase::sumOf(Place place) const {
  uint64_t sum = 0;
  forEachShard([&](const ShardView& shard) { sum += valueAt(shard, place); });
  return sum;
}

uint64_t BlockBase::ownSumOf(Place place) const {
  uint64_t sum = 0;
  for (size_t i = 0; i < shardCount(); ++i) {
    if (const auto shard = view(i)) sum += valueAt(*shard, place);
  }
  return sum;
}

void BlockBase::sumCounters(std::vector<uint64_t>* sums) const {
  const std::span<const Place> places = layout_.counter_places;
  sums->assign(places.size(), 0);
  forEachShard([&](const ShardView& shard) {
    for (size_t j = 0; j < places.size(); ++j) {
      const Slot* slots = shard.group(places[j].group);
      if (slots) (*sums)[j] += slots[places[j].slot].load(std::memory_order_relaxed);
    }
  });
  memory().imported_counters.forEach(
      [&](size_t index, uint64_t value) { (*sums)[index] += value; });
}

uint64_t BlockBase::rawCounter(size_t index) const {
  return sumOf(layout_.counter_places[index]) + memory().imported_counters[index];
}

Reading BlockBase::counter(size_t index) const {
  const uint64_t raw = rawCounter(index);
  return {raw - memory().counter_baseline[index], raw > 0 || isTouched(index)};
}

void BlockBase::readCounters(std::vector<Reading>* readings) const {
  std::vector<uint64_t> sums;
  sumCounters(&sums);
  readings->resize(sums.size());
  for (size_t i = 0; i < sums.size(); ++i) {
    (*readings)[i] = {sums[i] - memory().counter_baseline[i], sums[i] > 0 || isTouched(i)};
  }
}

Reading BlockBase::gauge(size_t index) const {
  const uint64_t imported = memory().imported_gauges[index];
  const Reading own = ownGauge(index);
  return {own.value + imported, own.used, imported > 0};
}

Reading BlockBase::ownGauge(size_t index) const {
  // What goes down while the other side is read would count as still up: read again, though not for
  // ever. What went down comes first in any case, so that no gauge is seen below 0 (Shard::down).
  constexpr int kTries = 4;
  const Place place = layout_.gauge_places[index];
  const auto at = [place](size_t side) {
    return Place{place.group, static_cast<uint8_t>(place.slot + side)};
  };
  uint64_t downs = sumOf(at(kDown));
  uint64_t ups = sumOf(at(kUp));
  for (int i = 1; i < kTries; ++i) {
    const uint64_t downs_now = sumOf(at(kDown));
    if (downs_now == downs) break;
    downs = downs_now;
    ups = sumOf(at(kUp));
  }
  return {ups - downs, ups > 0 || downs > 0};
}

void BlockBase::readGauges(std::vector<Reading>* readings) const {
  readings->resize(layout_.gauges.size());
  for (size_t i = 0; i < readings->size(); ++i) (*readings)[i] = gauge(i);
}

const BlockBase::Flushed* BlockBase::flushed(size_t histogram) const {
  const auto& histograms = memory().histograms;
  return histogram < histograms.size() ? histograms[histogram].get() : nullptr;
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

bool BlockBase::isRecorded(size_t histogram) const { return recorded(histogram) > 0; }

const std::string& BlockBase::text(size_t index) const {
  return isTextSet(index) ? *memory().texts[index] : kNoText;
}

bool BlockBase::isTextSet(size_t index) const {
  return index < memory().texts.size() && memory().texts[index].has_value();
}

void BlockBase::setText(size_t text, std::string value) {
  std::vector<std::optional<std::string>>& texts = remember().texts;
  texts.resize(layout_.texts.size());
  texts[text] = std::move(value);
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
  for (const CodeName name : memory().shown_codes) {
    if (isWanted(name.variant())) codes.push_back({name, 0});
  }
  // Under all names that an answer of this status is counted.
  const auto countAll = [&](CodeName status, uint64_t value) {
    const CodeVariant variant = status.variant();
    if (!isWanted(variant)) return;
    const int number = status.statusNumber();
    if (!status.isCompleted()) count(status, value);
    if (number > 0) count(CodeName::family(variant, number / 100), value);
    const bool is_counter = variant == CodeVariant::All && layout_.has_completed;
    if (!is_counter) count(CodeName::completed(variant), value);
  };
  for (const Code& code : memory().imported_codes) countAll(code.name, code.value);
  forEachShard([&](const ShardView& shard) {
    if (!shard.codes) return;
    shard.codes->forEach([&](uint16_t status, CodeVariant variant, uint64_t value) {
      countAll(nameOf(status, variant), value);
    });
  });
  std::sort(codes.begin(), codes.end(),
            [](const Code& a, const Code& b) { return a.name < b.name; });
  return codes;
}

std::vector<BlockBase::Code> BlockBase::codes(std::optional<CodeVariant> only) const {
  std::vector<Code> codes = rawCodes(only);
  for (Code& code : codes) code.used = code.value > 0;
  auto code = codes.begin();
  for (const Code& before : memory().code_baseline) {
    if (only && before.name.variant() != *only) continue;
    while (code->name < before.name) ++code;
    code->value -= before.value;
  }
  return codes;
}

void BlockBase::showCodes(std::span<const CodeName> names) {
  std::vector<CodeName>& shown = remember().shown_codes;
  for (const CodeName name : names) {
    if (std::find(shown.begin(), shown.end(), name) == shown.end()) shown.push_back(name);
  }
}

void BlockBase::latchCounters(std::vector<Latched>* counters) {
  std::vector<uint64_t> sums;
  sumCounters(&sums);
  counters->resize(sums.size());
  for (size_t i = 0; i < sums.size(); ++i) {
    const uint64_t sent = memory().sent_counters[i];
    (*counters)[i] = {sums[i] - memory().counter_baseline[i], sums[i] - sent,
                      sums[i] > 0 || isTouched(i)};
    if (sums[i] != sent) remember().sent_counters.set(i, sums[i]);
  }
}

std::vector<BlockBase::LatchedCode> BlockBase::latchCodes() {
  std::vector<Code> codes = rawCodes();
  std::vector<LatchedCode> latched;
  latched.reserve(codes.size());
  // Names only come, none goes: both earlier states are found in the same order.
  if (codes.empty()) return latched;
  Memory& memory = remember();
  auto reset = memory.code_baseline.begin();
  auto sent = memory.sent_codes.begin();
  const auto before = [](auto* earlier, auto end, CodeName name) -> uint64_t {
    while (*earlier != end && (*earlier)->name < name) ++*earlier;
    return *earlier != end && (*earlier)->name == name ? (*earlier)->value : 0;
  };
  for (const Code& code : codes) {
    if (code.value == 0) continue;
    latched.push_back({code.name,
                       code.value - before(&reset, memory.code_baseline.end(), code.name),
                       code.value - before(&sent, memory.sent_codes.end(), code.name)});
  }
  memory.sent_codes = std::move(codes);
  return latched;
}

const std::vector<bool>& BlockBase::rejectedNames(Kind kind) const {
  std::vector<bool>& rejected = remember().rejected[static_cast<size_t>(kind)];
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

uint64_t BlockBase::recorded(size_t histogram) const {
  uint64_t recorded = 0;
  forEachShard([&](const ShardView& shard) {
    const HistogramCells* cells = shard.histograms[histogram].load(std::memory_order_acquire);
    if (cells) recorded += cells->recorded();
  });
  return recorded;
}

void BlockBase::flushHistograms(BinCounts* scratch) {
  for (size_t i = 0; i < layout_.histograms.size(); ++i) {
    const uint64_t recorded = this->recorded(i);
    if (recorded == 0) continue;
    std::vector<std::unique_ptr<Flushed>>& histograms = remember().histograms;
    if (histograms.empty()) histograms.resize(layout_.histograms.size());
    if (!histograms[i]) histograms[i] = std::make_unique<Flushed>();
    Flushed& flushed = *histograms[i];
    if (recorded == flushed.recorded) {
      flushed.interval.reset();
      continue;
    }
    scratch->clear();
    forEachShard([&](const ShardView& shard) {
      const HistogramCells* cells = shard.histograms[i].load(std::memory_order_acquire);
      if (cells) cells->addTo(scratch);
    });
    auto total = std::make_shared<const Distribution>(*scratch);
    flushed.recorded = recorded;
    // Of the first flush, both are the same.
    flushed.interval =
        flushed.total ? std::make_shared<const Distribution>(total->since(*flushed.total)) : total;
    flushed.total = std::move(total);
  }
}

void BlockBase::addImported(size_t counter, uint64_t amount) {
  SparseCounts& counters = remember().imported_counters;
  counters.set(counter, counters[counter] + amount);
}

void BlockBase::addImportedCode(CodeName name, uint64_t amount) {
  std::vector<Code>& codes = remember().imported_codes;
  for (Code& code : codes) {
    if (code.name != name) continue;
    code.value += amount;
    return;
  }
  codes.push_back({name, amount});
}

void BlockBase::setImported(size_t gauge, uint64_t value) {
  remember().imported_gauges.set(gauge, value);
}

void BlockBase::markImportedSent() {
  if (!memory_) return;
  memory_->sent_counters = memory_->imported_counters;
  if (!memory_->imported_codes.empty()) memory_->sent_codes = rawCodes();
}

void BlockBase::resetCounters() {
  std::vector<uint64_t> sums;
  sumCounters(&sums);
  for (size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] != memory().counter_baseline[i]) remember().counter_baseline.set(i, sums[i]);
  }
  std::vector<Code> codes = rawCodes();
  if (!codes.empty()) remember().code_baseline = std::move(codes);
}

void BlockBase::addOwn(size_t counter, uint64_t amount) {
  if (amount > 0) {
    addToOwnShard(counter, amount);
    return;
  }
  std::vector<bool>& touched = remember().touched;
  touched.resize(layout_.counters.size());
  touched[counter] = true;
}

}  // namespace fairlead::stats
