#include "hot_restart/stats_transfer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/varint.h"
#include "plan/wire.h"

namespace fairlead::hot_restart {

namespace {

using stats::BlockBase;
using stats::Reading;

// Fields of the messages, as their tags.
constexpr char kBatchScope = 1 << 3 | 2;
constexpr char kScopePrefix = 1 << 3 | 2;
constexpr char kScopeStat = 2 << 3 | 2;
constexpr char kScopeMetricPrefix = 3 << 3 | 2;
constexpr char kScopeFirstLabel = 4 << 3 | 2;
constexpr char kScopeLabel = 5 << 3 | 2;
constexpr char kScopeHasEnded = 6 << 3;
constexpr char kLabelName = 1 << 3 | 2;
constexpr char kLabelValue = 2 << 3 | 2;
constexpr char kStatName = 1 << 3 | 2;
constexpr char kStatAdded = 2 << 3;
constexpr char kStatLevel = 3 << 3;

void appendBytes(std::string* out, char tag, std::string_view bytes) {
  out->push_back(tag);
  appendVarint(out, bytes.size());
  out->append(bytes);
}

// A scope that is being written: nothing of it appears unless it has a statistic.
class ScopeWriter {
 public:
  ScopeWriter(const stats::Scope& scope, bool has_ended, std::string* batch) : batch_(batch) {
    appendBytes(&scope_, kScopePrefix, scope.prefix);
    appendBytes(&scope_, kScopeMetricPrefix, scope.metric_prefix);
    addLabels(kScopeFirstLabel, scope.first_labels);
    addLabels(kScopeLabel, scope.labels);
    if (has_ended) scope_.append({kScopeHasEnded, 1});
  }
  ~ScopeWriter() {
    if (has_stats_) appendBytes(batch_, kBatchScope, scope_);
  }

  void add(std::string_view name, char tag, uint64_t value) {
    stat_.clear();
    appendBytes(&stat_, kStatName, name);
    stat_.push_back(tag);
    appendVarint(&stat_, value);
    appendBytes(&scope_, kScopeStat, stat_);
    has_stats_ = true;
  }

 private:
  void addLabels(char tag, const std::vector<stats::Label>& labels) {
    for (const auto& [name, value] : labels) {
      stat_.clear();
      appendBytes(&stat_, kLabelName, name);
      appendBytes(&stat_, kLabelValue, value);
      appendBytes(&scope_, tag, stat_);
    }
  }

  std::string* const batch_;
  std::string scope_;
  std::string stat_;
  bool has_stats_ = false;
};

// The block's answers under the names from which all others follow: statuses, and as completed
// those that have none.
std::vector<BlockBase::Code> countedCodes(const BlockBase& block) {
  const std::vector<BlockBase::Code> codes = block.codes();
  const auto hasStatus = [](stats::CodeName name) {
    return name.statusNumber() > 0 || name.isUnknown();
  };
  const auto variantOf = [](const BlockBase::Code& code) {
    return static_cast<size_t>(code.name.variant());
  };
  std::array<uint64_t, stats::kCodeVariants> with_status{};
  for (const BlockBase::Code& code : codes) {
    if (hasStatus(code.name)) with_status[variantOf(code)] += code.value;
  }
  std::vector<BlockBase::Code> counted;
  for (BlockBase::Code code : codes) {
    if (code.name.isCompleted() && code.name.variant() != stats::CodeVariant::All) {
      // Where a block has succeeded another that was reset, fewer may be completed than have one.
      code.value -= std::min(code.value, with_status[variantOf(code)]);
      counted.push_back(code);
    } else if (hasStatus(code.name)) {
      counted.push_back(code);
    }
  }
  return counted;
}

// What was told of a code, made 0 when it is new.
uint64_t& toldOf(std::vector<BlockBase::Code>* codes, stats::CodeName name) {
  const auto known = std::find_if(codes->begin(), codes->end(),
                                  [&](const BlockBase::Code& code) { return code.name == name; });
  if (known != codes->end()) return known->value;
  codes->push_back({name, 0});
  return codes->back().value;
}

struct Stat {
  std::string name;
  uint64_t added = 0;
  uint64_t level = 0;
  bool is_level = false;
};

struct ToldScope {
  stats::Scope scope;
  std::vector<Stat> stats;
  bool has_ended = false;
};

bool readStat(plan::WireReader& reader, Stat* out) {
  while (reader.nextField("Stat")) {
    switch (reader.field()) {
      case 1:
        reader.readBytes(&out->name, "Stat.name");
        break;
      case 2:
        reader.readNumber(&out->added, "Stat.added");
        break;
      case 3:
        out->is_level = reader.readNumber(&out->level, "Stat.level");
        break;
      default:
        reader.skip("Stat");
    }
  }
  return reader.ok();
}

bool readLabel(plan::WireReader& reader, stats::Label* out) {
  while (reader.nextField("Label")) {
    if (reader.field() == 1) {
      reader.readBytes(&out->first, "Label.name");
    } else if (reader.field() == 2) {
      reader.readBytes(&out->second, "Label.value");
    } else {
      reader.skip("Label");
    }
  }
  return reader.ok();
}

void readLabels(plan::WireReader& reader, const char* where, std::vector<stats::Label>* out) {
  stats::Label& label = out->emplace_back();
  reader.readMessage(where, [&](plan::WireReader& inner) { return readLabel(inner, &label); });
}

bool readScope(plan::WireReader& reader, ToldScope* out) {
  while (reader.nextField("Scope")) {
    switch (reader.field()) {
      case 1:
        reader.readBytes(&out->scope.prefix, "Scope.prefix");
        break;
      case 2: {
        Stat& stat = out->stats.emplace_back();
        reader.readMessage("Scope.stats",
                           [&](plan::WireReader& inner) { return readStat(inner, &stat); });
        break;
      }
      case 3:
        reader.readBytes(&out->scope.metric_prefix, "Scope.metric_prefix");
        break;
      case 4:
        readLabels(reader, "Scope.first_labels", &out->scope.first_labels);
        break;
      case 5:
        readLabels(reader, "Scope.labels", &out->scope.labels);
        break;
      case 6:
        reader.readNumber(&out->has_ended, "Scope.has_ended");
        break;
      default:
        reader.skip("Scope");
    }
  }
  return reader.ok();
}

}  // namespace

bool isGaugeOfProcess(std::string_view scope_prefix, std::string_view name) {
  // What each process knows better than another, or writes for all.
  if (scope_prefix == "server.") return !name.starts_with("memory_");
  if (scope_prefix.starts_with("runtime.") || scope_prefix.starts_with("listener_manager.") ||
      scope_prefix.starts_with("cluster_manager.") ||
      scope_prefix.starts_with("thread_local_cluster_manager.")) {
    return true;
  }
  constexpr std::array<std::string_view, 10> kNames = {
      "config_reload_time_ms", "max_host_weight",  "membership_degraded", "membership_excluded",
      "membership_healthy",    "membership_total", "update_time",         "version",
      "warming_state",         "connected_state",
  };
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

bool StatsExport::next(std::string* batch, size_t max_bytes) {
  if (blocks_.empty()) {
    blocks_ = registry_.blocks();
    next_block_ = 0;
    tellKept(batch);
  }
  while (next_block_ < blocks_.size()) {
    if (batch->size() >= max_bytes) return true;
    const auto& block = blocks_[next_block_++];
    tell(*block, &entryOf(block), batch);
  }
  blocks_.clear();
  std::erase_if(told_, [](const auto& item) { return item.second.block.expired(); });
  return false;
}

StatsExport::Told& StatsExport::entryOf(const std::shared_ptr<BlockBase>& block) {
  const auto [place, is_new] = told_.try_emplace({block->scope().prefix, &block->layout()});
  Told& told = place->second;
  if (told.block.lock() == block) return told;
  bool begins = is_new;
  // Where another has ended the scope may have begun at 0, or go on: no counter falls then.
  if (!is_new && told.block.expired()) {
    std::vector<Reading> readings;
    block->readCounters(&readings);
    for (size_t i = 0; i < told.counters.size() && !begins; ++i) {
      begins = readings[i].value < told.counters[i];
    }
    if (begins) told = {};
  }
  if (begins) takeToldKept(*block, &told);
  told.block = block;
  return told;
}

void StatsExport::takeToldKept(const BlockBase& block, Told* told) {
  const auto scope = told_kept_.find(block.scope().prefix);
  if (scope == told_kept_.end()) return;
  const stats::Layout& layout = block.layout();
  told->counters.resize(layout.counters.size());
  std::erase_if(scope->second, [&](const auto& item) {
    const auto& [name, amount] = item;
    if (const auto counter = stats::indexOf(layout.counters, name)) {
      told->counters[*counter] = amount;
      return true;
    }
    const auto code = layout.has_codes ? stats::CodeName::parseCounted(name) : std::nullopt;
    if (code) toldOf(&told->codes, *code) = amount;
    return code.has_value();
  });
  if (scope->second.empty()) told_kept_.erase(scope);
}

void StatsExport::changeListener() {
  for (auto& [block, told] : told_) told.gauges.clear();
  told_kept_levels_.clear();
  blocks_.clear();
}

void StatsExport::tell(const BlockBase& block, Told* told, std::string* batch) {
  const stats::Layout& layout = block.layout();
  ScopeWriter scope(block.scope(), false, batch);
  std::vector<Reading> readings;
  block.readCounters(&readings);
  told->counters.resize(readings.size());
  for (size_t i = 0; i < readings.size(); ++i) {
    const uint64_t value = readings[i].value;
    uint64_t& before = told->counters[i];
    // One that was reset goes on from there.
    if (value > before) scope.add(layout.counters[i].name, kStatAdded, value - before);
    before = value;
  }
  std::string name;
  const std::vector<BlockBase::Code> codes = countedCodes(block);
  // What is not there any more begins at 0 when it comes back.
  std::erase_if(told->codes, [&](const BlockBase::Code& before) {
    return std::ranges::find(codes, before.name, &BlockBase::Code::name) == codes.end();
  });
  for (const BlockBase::Code& code : codes) {
    uint64_t& before = toldOf(&told->codes, code.name);
    if (code.value > before) {
      name.clear();
      code.name.appendTo(&name);
      scope.add(name, kStatAdded, code.value - before);
    }
    before = code.value;
  }
  block.readGauges(&readings);
  told->gauges.resize(readings.size());
  for (size_t i = 0; i < readings.size(); ++i) {
    const auto& [value, used, is_imported] = readings[i];
    const bool is_known = told->gauges[i].has_value() || used || is_imported;
    if (!is_known || told->gauges[i] == value) continue;
    told->gauges[i] = value;
    scope.add(layout.gauges[i].name, kStatLevel, value);
  }
}

void StatsExport::tellKept(std::string* batch) {
  registry_.kept().forEachCounter([&](const stats::Scope& scope, const std::string& name,
                                      const stats::KeptScopes::Counter& counter) {
    uint64_t& before = told_kept_[scope.prefix][name];
    if (counter.amount > before) {
      ScopeWriter(scope, counter.has_ended, batch).add(name, kStatAdded, counter.amount - before);
    }
    // One that was reset goes on from there.
    before = counter.amount;
  });
  tellKeptLevels(batch);
}

void StatsExport::tellKeptLevels(std::string* batch) {
  std::map<std::string, ToldLevels> before = std::exchange(told_kept_levels_, {});
  registry_.kept().forEachGauge(
      [&](const stats::Scope& scope, const std::string& name, const stats::ImportedLevel& level) {
        ToldLevels& told = told_kept_levels_[scope.prefix];
        told.scope = scope;
        told.levels[name] = level.value;
        std::map<std::string, uint64_t>& known = before[scope.prefix].levels;
        const auto same = known.find(name);
        if (same == known.end() || same->second != level.value) {
          ScopeWriter(scope, false, batch).add(name, kStatLevel, level.value);
        }
        if (same != known.end()) known.erase(same);
      });
  // Whoever told of these has ended, or they have a scope here: that is told of by itself.
  for (const auto& [prefix, told] : before) {
    for (const auto& [name, value] : told.levels) {
      if (value > 0) ScopeWriter(told.scope, false, batch).add(name, kStatLevel, 0);
    }
  }
}

Result<void> importStats(stats::Registry& registry, std::string_view batch) {
  std::vector<ToldScope> scopes;
  plan::WireReader reader(batch.data(), batch.size());
  while (reader.nextField("StatsBatch")) {
    if (reader.field() != 1) {
      reader.skip("StatsBatch");
      continue;
    }
    ToldScope& scope = scopes.emplace_back();
    reader.readMessage("StatsBatch.scopes",
                       [&](plan::WireReader& inner) { return readScope(inner, &scope); });
  }
  if (!reader.ok()) return reader.error();
  for (const auto& [scope, stats, has_ended] : scopes) {
    for (const Stat& stat : stats) {
      if (stat.added > 0) registry.importCounter(scope, stat.name, stat.added, has_ended);
      if (!stat.is_level) continue;
      const bool is_of_process = isGaugeOfProcess(scope.prefix, stat.name);
      registry.importGauge(scope, stat.name, {stat.level, is_of_process});
    }
  }
  return {};
}

}  // namespace fairlead::hot_restart
