// All statistics in the order in which they are shown: byte order of the full name, counters and
// gauges together, then histograms. Only the names of one group of scopes exist at a time: a group
// is a scope with all those whose prefix begins with its own, the only ones whose names mix.
#pragma once

#include <string>
#include <vector>

#include "stats/query.h"

namespace fairlead::stats {

struct Row {
  std::string name;
  const BlockBase* block;
  Kind kind;
  size_t index;
  // Of counters and gauges.
  uint64_t value;
};

class Walk {
 public:
  Walk(const Registry& registry, const Query& query)
      : query_(query), blocks_(registry.blocks()) {}

  // The rows of the next group, sorted; may be empty. False: there are no more groups.
  bool nextValues(std::vector<Row>* rows) { return next(rows, false); }
  bool nextHistograms(std::vector<Row>* rows) { return next(rows, true); }
  // Back to the first group.
  void restart() { at_ = 0; }

 private:
  bool next(std::vector<Row>* rows, bool histograms);
  void addValues(const BlockBase& block, std::vector<Row>* rows) const;
  void addHistograms(const BlockBase& block, std::vector<Row>* rows) const;
  bool isWanted(const std::string& name) const { return !query_.filter || query_.filter(name); }

  const Query& query_;
  const std::vector<std::shared_ptr<BlockBase>> blocks_;
  size_t at_ = 0;
};

}  // namespace fairlead::stats
