// Statistics from one process to the next, so that counters go on through all epochs. Batches are
// messages of proto/fairlead/hot_restart.proto (StatsBatch), by name: the two may know different
// ones. Histograms stay with their process. The control thread's.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "stats/registry.h"

namespace fairlead::hot_restart {

// The giving side: what changed since it was told last. The first round tells everything.
class StatsExport {
 public:
  explicit StatsExport(const stats::Registry& registry) : registry_(registry) {}

  // Appends the next batch, of about `max_bytes` at most unless one scope is longer. False: the
  // round is complete; the next call begins another.
  bool next(std::string* batch, size_t max_bytes);

  // From here on another process is told, which knows the counters that were told so far, but no
  // gauge.
  void changeListener();

 private:
  struct Told {
    std::weak_ptr<const stats::BlockBase> block;
    std::vector<uint64_t> counters;
    // None: it was not used yet.
    std::vector<std::optional<uint64_t>> gauges;
    std::vector<stats::BlockBase::Code> codes;
  };

  // What was told of the block, or of the one that it has succeeded.
  Told& entryOf(const std::shared_ptr<stats::BlockBase>& block);
  // A block that begins was given what was kept of its scope, which has been told.
  void takeToldKept(const stats::BlockBase& block, Told* told);
  void tell(const stats::BlockBase& block, Told* told, std::string* batch);
  void tellKept(std::string* batch);
  void tellKeptLevels(std::string* batch);

  const stats::Registry& registry_;
  // By prefix and layout: no two that are shown have the same.
  std::map<std::pair<std::string, const stats::Layout*>, Told> told_;
  // Of scopes that were not here: by prefix, and by name.
  std::map<std::string, std::map<std::string, uint64_t>, std::less<>> told_kept_;
  struct ToldLevels {
    stats::Scope scope;
    std::map<std::string, uint64_t> levels;
  };
  // The same of gauges, by prefix.
  std::map<std::string, ToldLevels> told_kept_levels_;
  // Of this round.
  std::vector<std::shared_ptr<stats::BlockBase>> blocks_;
  size_t next_block_ = 0;
};

// The taking side. Changes nothing when the batch is not understood.
Result<void> importStats(stats::Registry& registry, std::string_view batch);

// Gauges that tell of one process alone are not added up.
bool isGaugeOfProcess(std::string_view scope_prefix, std::string_view name);

}  // namespace fairlead::hot_restart
