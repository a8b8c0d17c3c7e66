#include "stats/kept_scopes.h"

#include <algorithm>
#include <utility>

namespace fairlead::stats {

namespace {

// Names that are known only now, as tables. All are shown: they were used where they were counted.
struct KeptNames {
  KeptNames(std::vector<std::string> counter_names, std::vector<std::string> gauge_names,
            bool has_codes)
      : counters(std::move(counter_names)), gauges(std::move(gauge_names)) {
    for (const std::string& name : counters) counter_stats.push_back({name, Shown::Always, 0});
    for (const std::string& name : gauges) gauge_stats.push_back({name, Shown::Always, 0});
    counter_places.resize(counters.size());
    gauge_places.resize(gauges.size());
    size_t counter = 0;
    size_t gauge = 0;
    while (counter < counters.size() || gauge < gauges.size()) {
      const bool is_counter = gauge == gauges.size() ||
                              (counter < counters.size() && counters[counter] < gauges[gauge]);
      const size_t index = is_counter ? counter++ : gauge++;
      values.push_back({is_counter ? Kind::Counter : Kind::Gauge, static_cast<uint16_t>(index)});
    }
    const bool has_completed =
        std::ranges::binary_search(counters, std::string("upstream_rq_completed"));
    layout.emplace(Layout{counter_stats,
                          gauge_stats,
                          {},
                          {},
                          values,
                          counter_places,
                          gauge_places,
                          {},
                          has_codes,
                          has_completed,
                          false});
  }
  KeptNames(const KeptNames&) = delete;
  KeptNames& operator=(const KeptNames&) = delete;

  const std::vector<std::string> counters;
  const std::vector<std::string> gauges;
  std::vector<StatName> counter_stats;
  std::vector<StatName> gauge_stats;
  std::vector<StatRef> values;
  // Nobody here writes to any of them.
  std::vector<Place> counter_places;
  std::vector<Place> gauge_places;
  std::optional<Layout> layout;
};

// A block that has no shard: all it shows was counted elsewhere.
class KeptBlock final : public BlockBase {
 public:
  KeptBlock(std::unique_ptr<const KeptNames> names, Scope scope)
      : BlockBase(*names->layout, std::move(scope), 0), names_(std::move(names)) {}

  void setOwn(size_t, uint64_t) override { FL_CHECK(!"written here"); }
  void recordOwn(size_t, uint64_t) override { FL_CHECK(!"written here"); }

 private:
  size_t shardCount() const override { return 0; }
  std::optional<ShardView> view(size_t) const override { return std::nullopt; }
  void addToOwnShard(size_t, uint64_t) override { FL_CHECK(!"written here"); }
  void shareOwnShard(BlockBase&) override { FL_CHECK(!"succeeded"); }
  Slot* inheritedSlots(Place) override { return nullptr; }
  HistogramCells& inheritedCells(size_t) override { std::abort(); }
  CodeCounts& inheritedCodes() override { std::abort(); }

  const std::unique_ptr<const KeptNames> names_;
};

}  // namespace

bool importInto(BlockBase& block, std::string_view name, uint64_t amount) {
  if (const auto index = indexOf(block.layout().counters, name)) {
    block.addImported(*index, amount);
    return true;
  }
  const auto code =
      block.layout().has_codes ? CodeName::parseCounted(name) : std::optional<CodeName>();
  if (code) block.addImportedCode(*code, amount);
  return code.has_value();
}

bool importInto(BlockBase& block, std::string_view name, ImportedLevel level) {
  const auto index = indexOf(block.layout().gauges, name);
  if (index && !level.is_of_process) block.setImported(*index, level.value);
  return index.has_value();
}

void KeptScopes::add(const Scope& scope, std::string_view name, uint64_t amount, bool has_ended) {
  Kept& kept = scopes_[scope.prefix];
  kept.scope = scope;
  Counter& counter = kept.counters[std::string(name)];
  counter.amount += amount;
  counter.unsent += amount;
  counter.has_ended = counter.has_ended && has_ended;
}

void KeptScopes::set(const Scope& scope, std::string_view name, ImportedLevel level) {
  Kept& kept = scopes_[scope.prefix];
  kept.scope = scope;
  kept.gauges[std::string(name)] = level;
}

void KeptScopes::giveTo(BlockBase& block) {
  const auto place = scopes_.find(block.scope().prefix);
  if (place == scopes_.end()) return;
  Kept& kept = place->second;
  const auto give = [&block](const auto& item) {
    return importInto(block, item.first, item.second);
  };
  std::erase_if(kept.gauges, give);
  std::vector<decltype(kept.counters)::iterator> given;
  for (auto counter = kept.counters.begin(); counter != kept.counters.end(); ++counter) {
    if (importInto(block, counter->first, counter->second.sent())) given.push_back(counter);
  }
  if (!given.empty()) block.markImportedSent();
  for (const auto counter : given) {
    importInto(block, counter->first, counter->second.unsent);
    kept.counters.erase(counter);
  }
  if (kept.gauges.empty() && kept.counters.empty()) scopes_.erase(place);
}

void KeptScopes::end() {
  for (auto item = scopes_.begin(); item != scopes_.end();) {
    Kept& kept = item->second;
    kept.gauges.clear();
    for (auto& [name, counter] : kept.counters) counter.has_ended = true;
    item = kept.counters.empty() ? scopes_.erase(item) : std::next(item);
  }
}

void KeptScopes::markSent() {
  for (auto& [prefix, kept] : scopes_) {
    for (auto& [name, counter] : kept.counters) counter.unsent = 0;
  }
}

void KeptScopes::reset() {
  for (auto& [prefix, kept] : scopes_) {
    for (auto& [name, counter] : kept.counters) counter.amount = 0;
  }
}

std::shared_ptr<BlockBase> KeptScopes::blockOf(const Kept& kept, const NameTest& rejects,
                                               Reader reader) {
  // What was counted last may come with the news that its process has ended.
  const auto isSeen = [reader](const Counter& counter) {
    return !counter.has_ended || (reader == Reader::Sinks && counter.unsent > 0);
  };
  std::vector<std::string> counters;
  std::vector<std::string> gauges;
  bool has_codes = false;
  for (const auto& [name, counter] : kept.counters) {
    if (!isSeen(counter)) continue;
    const bool is_code = CodeName::parseCounted(name).has_value();
    has_codes = has_codes || is_code;
    if (!is_code) counters.push_back(name);
  }
  for (const auto& [name, level] : kept.gauges) gauges.push_back(name);
  if (counters.empty() && gauges.empty() && !has_codes) return nullptr;
  auto block = std::make_shared<KeptBlock>(
      std::make_unique<const KeptNames>(std::move(counters), std::move(gauges), has_codes),
      kept.scope);
  block->setRejection(&rejects);
  const auto addAll = [&](auto amountOf) {
    for (const auto& [name, counter] : kept.counters) {
      if (isSeen(counter)) importInto(*block, name, amountOf(counter));
    }
  };
  addAll([](const Counter& counter) { return counter.sent(); });
  block->markImportedSent();
  addAll([](const Counter& counter) { return counter.unsent; });
  for (const auto& [name, level] : kept.gauges)
    importInto(*block, name, ImportedLevel{level.value});
  return block;
}

KeptScopes::Blocks KeptScopes::blocksFor(Reader reader, const NameTest& rejects,
                                         const NameTest& may_begin) const {
  Blocks result;
  for (const auto& [prefix, kept] : scopes_) {
    if (may_begin && !may_begin(prefix)) continue;
    if (auto block = blockOf(kept, rejects, reader)) result.push_back(std::move(block));
  }
  return result;
}

KeptScopes::Blocks KeptScopes::blocks(const NameTest& rejects, const NameTest& may_begin) const {
  return blocksFor(Reader::Pages, rejects, may_begin);
}

KeptScopes::Blocks KeptScopes::blocksToSend(const NameTest& rejects) {
  Blocks result = blocksFor(Reader::Sinks, rejects, {});
  markSent();
  return result;
}

}  // namespace fairlead::stats
