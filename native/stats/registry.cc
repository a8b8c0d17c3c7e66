#include "stats/registry.h"

#include <algorithm>

#include "base/check.h"

namespace fairlead::stats {

std::shared_ptr<BlockBase> Registry::find(const std::string& prefix, const Layout& layout) const {
  const auto place = blocks_.find(prefix);
  if (place == blocks_.end()) return nullptr;
  for (const std::weak_ptr<BlockBase>& weak : place->second) {
    std::shared_ptr<BlockBase> block = weak.lock();
    if (block && &block->layout() == &layout) return block;
  }
  return nullptr;
}

namespace {

std::optional<size_t> indexOf(std::span<const StatName> names, std::string_view name) {
  const auto stat = std::lower_bound(
      names.begin(), names.end(), name,
      [](const StatName& stat, std::string_view wanted) { return stat.name < wanted; });
  if (stat == names.end() || stat->name != name) return std::nullopt;
  return static_cast<size_t>(stat - names.begin());
}

// False: the block has no such counter.
bool importInto(BlockBase& block, std::string_view name, uint64_t amount) {
  if (const auto index = indexOf(block.layout().counters, name)) {
    block.addImported(*index, amount);
    return true;
  }
  const auto status =
      block.layout().has_codes ? CodeName::parseStatus(name) : std::optional<CodeName>();
  if (status) block.addImportedCode(*status, amount);
  return status.has_value();
}

// False: the block has no such gauge.
bool importGaugeInto(BlockBase& block, std::string_view name, uint64_t value) {
  const auto index = indexOf(block.layout().gauges, name);
  if (index) block.setImported(*index, value);
  return index.has_value();
}

}  // namespace

void Registry::importCounter(const std::string& prefix, std::string_view name, uint64_t amount) {
  if (const auto place = blocks_.find(prefix); place != blocks_.end()) {
    for (const std::weak_ptr<BlockBase>& weak : place->second) {
      const std::shared_ptr<BlockBase> block = weak.lock();
      if (block && importInto(*block, name, amount)) return;
    }
  }
  kept_[prefix][std::string(name)] += amount;
}

void Registry::takeKept(BlockBase& block) {
  if (const auto gauges = kept_gauges_.find(block.scope().prefix); gauges != kept_gauges_.end()) {
    std::erase_if(gauges->second, [&](const auto& item) {
      return importGaugeInto(block, item.first, item.second);
    });
    if (gauges->second.empty()) kept_gauges_.erase(gauges);
  }
  const auto place = kept_.find(block.scope().prefix);
  if (place == kept_.end()) return;
  std::erase_if(place->second,
                [&](const auto& item) { return importInto(block, item.first, item.second); });
  if (place->second.empty()) kept_.erase(place);
  block.markImportedSent();
}

void Registry::importGauge(const std::string& prefix, std::string_view name, uint64_t value) {
  if (const auto place = blocks_.find(prefix); place != blocks_.end()) {
    for (const std::weak_ptr<BlockBase>& weak : place->second) {
      const std::shared_ptr<BlockBase> block = weak.lock();
      if (block && importGaugeInto(*block, name, value)) return;
    }
  }
  kept_gauges_[prefix][std::string(name)] = value;
}

template <typename Visit>
void Registry::forEachBlock(Visit visit) {
  for (auto entry = blocks_.begin(); entry != blocks_.end();) {
    std::erase_if(entry->second, [&](const std::weak_ptr<BlockBase>& weak) {
      const std::shared_ptr<BlockBase> block = weak.lock();
      if (block) visit(*block);
      return !block;
    });
    entry = entry->second.empty() ? blocks_.erase(entry) : std::next(entry);
  }
}

void Registry::markImportedSent() {
  forEachBlock([](BlockBase& block) { block.markImportedSent(); });
}

void Registry::dropImportedGauges() {
  kept_gauges_.clear();
  forEachBlock([](BlockBase& block) { block.dropImportedGauges(); });
}

void Registry::insert(std::shared_ptr<BlockBase> block) {
  takeKept(*block);
  auto& place = blocks_[block->scope().prefix];
  std::erase_if(place, [](const std::weak_ptr<BlockBase>& weak) { return weak.expired(); });
  place.push_back(std::move(block));
}

std::vector<std::shared_ptr<BlockBase>> Registry::blocks() const {
  std::vector<std::shared_ptr<BlockBase>> result;
  result.reserve(blocks_.size());
  for (const auto& [prefix, place] : blocks_) {
    for (const std::weak_ptr<BlockBase>& weak : place) {
      if (std::shared_ptr<BlockBase> block = weak.lock()) result.push_back(std::move(block));
    }
  }
  return result;
}

template <typename Visit>
void Registry::forEachScopeOf(std::string_view name, Visit visit) const {
  // The scope is the part up to some dot, or nothing.
  size_t size = name.size();
  do {
    const size_t dot = size > 1 ? name.rfind('.', size - 2) : std::string_view::npos;
    size = dot == std::string_view::npos ? 0 : dot + 1;
    const auto place = blocks_.find(name.substr(0, size));
    if (place == blocks_.end()) continue;
    for (const std::weak_ptr<BlockBase>& weak : place->second) {
      const std::shared_ptr<BlockBase> block = weak.lock();
      if (block && visit(block, name.substr(size))) return;
    }
  } while (size > 0);
}

std::optional<Registry::Handle> Registry::findStat(std::string_view name) const {
  std::optional<Handle> result;
  forEachScopeOf(name, [&](const std::shared_ptr<BlockBase>& block, std::string_view rest) {
    for (const Kind kind : {Kind::Counter, Kind::Gauge, Kind::Text, Kind::Histogram}) {
      const auto index = indexOf(block->layout().names(kind), rest);
      if (!index) continue;
      result = Handle{block, kind, *index};
      return true;
    }
    return false;
  });
  return result;
}

std::optional<Registry::StatId> Registry::idOf(std::string_view name) {
  const auto known = ids_.find(std::string(name));
  if (known != ids_.end() && !stats_[known->second].block.expired()) return known->second;
  const std::optional<Handle> found = findStat(name);
  if (!found) return std::nullopt;
  Stat stat = {found->block, found->kind, found->index};
  if (known != ids_.end()) {
    stats_[known->second] = std::move(stat);
    return known->second;
  }
  const auto id = static_cast<StatId>(stats_.size());
  stats_.push_back(std::move(stat));
  ids_.emplace(name, id);
  return id;
}

void Registry::add(StatId counter, uint64_t amount) {
  const Stat& stat = stats_[counter];
  FL_CHECK(stat.kind == Kind::Counter);
  if (const auto block = stat.block.lock()) block->addOwn(stat.index, amount);
}

void Registry::set(StatId gauge, uint64_t value) {
  const Stat& stat = stats_[gauge];
  FL_CHECK(stat.kind == Kind::Gauge);
  if (const auto block = stat.block.lock()) block->setOwn(stat.index, value);
}

void Registry::record(StatId histogram, uint64_t value) {
  const Stat& stat = stats_[histogram];
  FL_CHECK(stat.kind == Kind::Histogram);
  if (const auto block = stat.block.lock()) block->recordOwn(stat.index, value);
}

void Registry::setText(StatId text, std::string value) {
  const Stat& stat = stats_[text];
  FL_CHECK(stat.kind == Kind::Text);
  if (const auto block = stat.block.lock()) block->setText(stat.index, std::move(value));
}

std::optional<uint64_t> Registry::value(std::string_view name) const {
  if (const std::optional<Handle> found = findStat(name)) {
    if (found->kind == Kind::Counter) return found->block->counter(found->index).value;
    if (found->kind == Kind::Gauge) return found->block->gauge(found->index).value;
    return std::nullopt;
  }
  std::optional<uint64_t> result;
  std::string code_name;
  forEachScopeOf(name, [&](const std::shared_ptr<BlockBase>& block, std::string_view rest) {
    for (const BlockBase::Code& code : block->codes()) {
      code_name.clear();
      code.name.appendTo(&code_name);
      if (code_name == rest) result = code.value;
    }
    return result.has_value();
  });
  return result;
}

bool Registry::takeSamples(size_t limit,
                           const std::function<void(const BlockBase&, size_t, uint64_t)>& visit) {
  bool more = false;
  for (size_t i = 0; rings_ && i < threads_; ++i) {
    const size_t taken = rings_[i].take(limit, [&](const Sample& sample) {
      const auto known = sampled_.find(sample.block);
      if (known == sampled_.end()) return;
      if (const auto block = known->second.lock()) {
        visit(*block, sample.histogram, sample.value);
      } else {
        sampled_.erase(known);
      }
    });
    if (taken == limit) more = true;
  }
  return more;
}

uint64_t Registry::lostSamples() const {
  uint64_t lost = 0;
  for (size_t i = 0; rings_ && i < threads_; ++i) lost += rings_[i].lost();
  return lost;
}

void Registry::flushHistograms() {
  forEachBlock([this](BlockBase& block) { block.flushHistograms(&scratch_); });
}

void Registry::resetCounters() {
  forEachBlock([](BlockBase& block) { block.resetCounters(); });
}

std::span<const double> Registry::bucketBounds(std::string_view histogram) const {
  for (const BucketRule& rule : bucket_rules_) {
    if (rule.matches(histogram)) return rule.bounds;
  }
  return kBucketBounds;
}

}  // namespace fairlead::stats
