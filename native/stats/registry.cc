#include "stats/registry.h"

#include <algorithm>

#include "base/check.h"

namespace fairlead::stats {

namespace {

// A number is a place and which use of it; together no more than JavaScript's numbers hold.
constexpr uint32_t kUses = 1 << 20;

uint32_t placeOf(Registry::StatId id) { return static_cast<uint32_t>(id); }
uint32_t useOf(Registry::StatId id) { return static_cast<uint32_t>(id >> 32); }

// Of the beginnings of a text that is refused.
std::string_view shortestRefused(std::string_view text, const NameTest& passes) {
  size_t passed = 0;
  size_t refused = text.size();
  if (!passes({})) return {};
  while (refused - passed > 1) {
    const size_t middle = passed + (refused - passed) / 2;
    (passes(text.substr(0, middle)) ? passed : refused) = middle;
  }
  return text.substr(0, refused);
}

// The first text that sorts behind all that begin so; empty: there is none.
std::string behindAllOf(std::string_view beginning) {
  std::string behind(beginning);
  while (!behind.empty() && behind.back() == '\xff') behind.pop_back();
  if (!behind.empty()) behind.back() = static_cast<char>(behind.back() + 1);
  return behind;
}

}  // namespace

std::shared_ptr<BlockBase> Registry::existing(const Scope& scope, const Layout& layout) {
  if (scope.is_unseen) return nullptr;
  sweep();
  return find(scope.prefix, layout);
}

BlockSamples Registry::samplesOf(const Scope& scope) {
  if (scope.is_unseen || !rings_) return {};
  return {rings_.get(), next_id_++};
}

std::shared_ptr<BlockBase> Registry::adopt(std::unique_ptr<BlockBase> made) {
  std::shared_ptr<BlockBase> block(std::move(made));
  if (block->scope().is_unseen) return block;
  std::shared_ptr<BlockBase> held = prepare(block);
  kept_.giveTo(*block);
  insert(std::move(block));
  return held;
}

std::shared_ptr<BlockBase> Registry::prepare(const std::shared_ptr<BlockBase>& block) {
  block->setRejection(&rejects_);
  block->awaitWorkers(&do_workers_run_);
  if (defers_traffic_ && &block->layout() == &Cluster::kLayout) block->deferTraffic();
  return EndedScopes::hold(block, ended_);
}

Registry::Blocks::const_iterator Registry::firstOf(std::string_view prefix) const {
  if (isOf(recent_, prefix)) return recent_;
  const auto found = blocks_.lower_bound(prefix);
  if (!isOf(found, prefix)) return blocks_.end();
  recent_ = found;
  return found;
}

std::shared_ptr<BlockBase> Registry::find(std::string_view prefix, const Layout& layout) const {
  for (auto block = firstOf(prefix); isOf(block, prefix); ++block) {
    if (&(*block)->layout() != &layout) continue;
    if (std::shared_ptr<BlockBase> held = (*block)->hold()) return held;
  }
  return nullptr;
}

template <typename Value>
bool Registry::importIntoOwn(std::string_view prefix, std::string_view name, Value value) {
  for (auto block = firstOf(prefix); isOf(block, prefix); ++block) {
    if ((*block)->isHeld() && importInto(**block, name, value)) return true;
  }
  return false;
}

void Registry::importCounter(const Scope& scope, std::string_view name, uint64_t amount,
                             bool has_ended) {
  if (!importIntoOwn(scope.prefix, name, amount)) kept_.add(scope, name, amount, has_ended);
}

void Registry::importGauge(const Scope& scope, std::string_view name, ImportedLevel level) {
  if (!importIntoOwn(scope.prefix, name, level)) kept_.set(scope, name, level);
}

template <typename Visit>
void Registry::forEachBlock(Visit visit) const {
  for (const std::shared_ptr<BlockBase>& block : blocks_) {
    if (block->isHeld()) visit(*block);
  }
}

void Registry::markImportedSent() {
  kept_.markSent();
  forEachBlock([](BlockBase& block) { block.markImportedSent(); });
}

void Registry::endImports() {
  kept_.end();
  forEachBlock([](BlockBase& block) { block.dropImportedGauges(); });
}

void Registry::insert(std::shared_ptr<BlockBase> block) {
  if (rings_) sampled_[block->id()] = block.get();
  blocks_.insert(std::move(block));
}

void Registry::sweep() {
  for (std::shared_ptr<BlockBase>& block : ended_->take()) {
    if (!takeOut(*block)) {
      endFormer(*block);
    } else if (std::shared_ptr<BlockBase> former = block->handBack()) {
      moveIds(*block, *former);
      blocks_.insert(std::move(former));
    } else {
      giveBackIds(*block);
    }
    if (keeps_ended_) {
      block->flushHistograms(&scratch_);
      unsent_.push_back(std::move(block));
    } else {
      sampled_.erase(block->id());
    }
  }
}

void Registry::giveBackIds(const BlockBase& block) {
  const auto places = places_of_.find(&block);
  if (places == places_of_.end()) return;
  for (const uint32_t place : places->second) {
    Stat& stat = stats_[place];
    const StatName& name = block.layout().names(stat.kind)[stat.index];
    places_.erase(block.scope().prefix + std::string(name.name));
    stat.block = nullptr;
    stat.use = (stat.use + 1) % kUses;
    free_stats_.push_back(place);
  }
  places_of_.erase(places);
}

std::vector<std::shared_ptr<BlockBase>> Registry::blocksToSend() {
  for (const std::shared_ptr<BlockBase>& block : sent_) sampled_.erase(block->id());
  sent_ = std::exchange(unsent_, {});
  std::vector<std::shared_ptr<BlockBase>> result = sent_;
  for (const std::shared_ptr<BlockBase>& block : blocks_) {
    if (block->isShown()) result.push_back(block);
  }
  const KeptScopes::Blocks kept = kept_.blocksToSend(rejects_);
  result.insert(result.end(), kept.begin(), kept.end());
  result.insert(result.end(), endpoints_.begin(), endpoints_.end());
  return result;
}

std::vector<std::shared_ptr<BlockBase>> Registry::shownBlocks(const NameTest& may_begin) const {
  std::vector<std::shared_ptr<BlockBase>> result = blocks(may_begin);
  const std::vector<std::shared_ptr<BlockBase>> kept = kept_.blocks(rejects_, may_begin);
  const auto own = static_cast<std::ptrdiff_t>(result.size());
  result.insert(result.end(), kept.begin(), kept.end());
  std::inplace_merge(result.begin(), result.begin() + own, result.end(), ByPrefix());
  return result;
}

std::vector<std::shared_ptr<BlockBase>> Registry::blocks(const NameTest& may_begin) const {
  std::vector<std::shared_ptr<BlockBase>> result;
  if (!may_begin) result.reserve(blocks_.size());
  for (auto block = blocks_.begin(); block != blocks_.end();) {
    const std::string_view prefix = (*block)->scope().prefix;
    if (may_begin && !may_begin(prefix)) {
      // Of thousands of clusters the first says that it is none of them.
      const std::string behind = behindAllOf(shortestRefused(prefix, may_begin));
      if (behind.empty()) break;
      block = blocks_.lower_bound(std::string_view(behind));
      continue;
    }
    if ((*block)->isHeld() && (*block)->isShown()) result.push_back(*block);
    ++block;
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
    const std::string_view prefix = name.substr(0, size);
    for (auto block = firstOf(prefix); isOf(block, prefix); ++block) {
      if ((*block)->isHeld() && visit(**block, name.substr(size))) return;
    }
  } while (size > 0);
}

std::optional<Registry::Stat> Registry::findStat(std::string_view name) const {
  std::optional<Stat> result;
  forEachScopeOf(name, [&](BlockBase& block, std::string_view rest) {
    for (const Kind kind : {Kind::Counter, Kind::Gauge, Kind::Text, Kind::Histogram}) {
      const auto index = indexOf(block.layout().names(kind), rest);
      if (!index) continue;
      result = Stat{&block, kind, *index};
      return true;
    }
    return false;
  });
  return result;
}

std::optional<Registry::StatId> Registry::idOf(std::string_view name) {
  sweep();
  const auto idAt = [this](uint32_t place) { return StatId{stats_[place].use} << 32 | place; };
  if (const auto known = places_.find(std::string(name)); known != places_.end()) {
    if (!stats_[known->second].block->isHeld()) return std::nullopt;
    return idAt(known->second);
  }
  const std::optional<Stat> found = findStat(name);
  if (!found) return std::nullopt;
  auto place = static_cast<uint32_t>(stats_.size());
  if (free_stats_.empty()) {
    stats_.push_back(*found);
  } else {
    place = free_stats_.back();
    free_stats_.pop_back();
    const uint32_t use = stats_[place].use;
    stats_[place] = *found;
    stats_[place].use = use;
  }
  places_.emplace(name, place);
  places_of_[found->block].push_back(place);
  return idAt(place);
}

bool Registry::hasScopeOf(std::string_view name) const {
  bool result = false;
  forEachScopeOf(name, [&](const BlockBase& block, std::string_view) {
    result = !block.scope().prefix.empty();
    return result;
  });
  return result;
}

bool Registry::isGiven(StatId id) const {
  const uint32_t place = placeOf(id);
  return place < stats_.size() && useOf(id) <= stats_[place].use;
}

const Registry::Stat* Registry::statOf(StatId id) const {
  const Stat& stat = stats_[placeOf(id)];
  return stat.use == useOf(id) && stat.block && stat.block->isHeld() ? &stat : nullptr;
}

const Registry::Stat* Registry::statOf(StatId id, Kind kind) const {
  const Stat* stat = statOf(id);
  if (stat) FL_CHECK(stat->kind == kind);
  return stat;
}

bool Registry::add(StatId counter, uint64_t amount) {
  const Stat* stat = statOf(counter, Kind::Counter);
  if (stat) stat->block->addOwn(stat->index, amount);
  return stat != nullptr;
}

bool Registry::set(StatId gauge, uint64_t value) {
  const Stat* stat = statOf(gauge, Kind::Gauge);
  if (stat) stat->block->setOwn(stat->index, value);
  return stat != nullptr;
}

bool Registry::record(StatId histogram, uint64_t value) {
  const Stat* stat = statOf(histogram, Kind::Histogram);
  if (stat) stat->block->recordOwn(stat->index, value);
  return stat != nullptr;
}

bool Registry::setText(StatId text, std::string value) {
  const Stat* stat = statOf(text, Kind::Text);
  if (stat) stat->block->setText(stat->index, std::move(value));
  return stat != nullptr;
}

std::optional<Registry::Stat> Registry::findStat(std::string_view name, Kind kind) const {
  const std::optional<Stat> found = findStat(name);
  return found && found->kind == kind ? found : std::nullopt;
}

bool Registry::addTo(std::string_view counter, uint64_t amount) {
  const std::optional<Stat> stat = findStat(counter, Kind::Counter);
  if (stat) stat->block->addOwn(stat->index, amount);
  return stat.has_value();
}

bool Registry::setTo(std::string_view gauge, uint64_t value) {
  const std::optional<Stat> stat = findStat(gauge, Kind::Gauge);
  if (stat) stat->block->setOwn(stat->index, value);
  return stat.has_value();
}

bool Registry::recordIn(std::string_view histogram, uint64_t value) {
  const std::optional<Stat> stat = findStat(histogram, Kind::Histogram);
  if (stat) stat->block->recordOwn(stat->index, value);
  return stat.has_value();
}

bool Registry::setTextOf(std::string_view text, std::string value) {
  const std::optional<Stat> stat = findStat(text, Kind::Text);
  if (stat) stat->block->setText(stat->index, std::move(value));
  return stat.has_value();
}

std::optional<uint64_t> Registry::value(std::string_view name) const {
  if (const std::optional<Stat> found = findStat(name)) {
    if (found->kind == Kind::Counter) return found->block->counter(found->index).value;
    if (found->kind == Kind::Gauge) return found->block->gauge(found->index).value;
    return std::nullopt;
  }
  for (const std::shared_ptr<BlockBase>& block : endpoints_) {
    if (!name.starts_with(block->scope().prefix)) continue;
    const std::string_view rest = name.substr(block->scope().prefix.size());
    if (const auto counter = indexOf(block->layout().counters, rest)) {
      return block->counter(*counter).value;
    }
    if (const auto gauge = indexOf(block->layout().gauges, rest)) {
      return block->gauge(*gauge).value;
    }
  }
  std::optional<uint64_t> result;
  std::string code_name;
  forEachScopeOf(name, [&](const BlockBase& block, std::string_view rest) {
    for (const BlockBase::Code& code : block.codes()) {
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
      if (known != sampled_.end()) visit(*known->second, sample.histogram, sample.value);
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
  sweep();
  forEachBlock([this](BlockBase& block) { block.flushHistograms(&scratch_); });
}

void Registry::resetCounters() {
  kept_.reset();
  forEachBlock([](BlockBase& block) { block.resetCounters(); });
}

std::span<const double> Registry::bucketBounds(std::string_view histogram) const {
  for (const BucketRule& rule : bucket_rules_) {
    if (rule.matches(histogram)) return rule.bounds;
  }
  return kBucketBounds;
}

// ---- which there are ----

void Registry::setRejection(NameTest rejects) {
  rejects_of_all_ = std::move(rejects);
  combineRejections();
}

void Registry::setRejection(const std::string& prefix, NameTest rejects) {
  if (rejects) {
    rejects_of_scopes_[prefix] = std::move(rejects);
  } else if (rejects_of_scopes_.erase(prefix) == 0) {
    return;
  }
  combineRejections();
}

void Registry::combineRejections() {
  if (rejects_of_scopes_.empty()) {
    rejects_ = rejects_of_all_;
    return;
  }
  rejects_ = [this](std::string_view name) {
    return (rejects_of_all_ && rejects_of_all_(name)) || isRejectedByScope(name);
  };
}

// Prefixes end where a token of the name does.
bool Registry::isRejectedByScope(std::string_view name) const {
  for (size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1)) {
    const auto found = rejects_of_scopes_.find(name.substr(0, dot + 1));
    if (found != rejects_of_scopes_.end() && found->second(name)) return true;
  }
  return false;
}

}  // namespace fairlead::stats
