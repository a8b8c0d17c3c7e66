// All statistics in the order in which they are shown: texts, then counters and gauges together,
// then histograms, each by the bytes of the full name; those of single hosts, host by host, before
// the histograms. No full name is made, but to filter it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stats/ordered_merge.h"
#include "stats/query.h"

namespace fairlead::stats {

struct Row {
  Kind kind;
  std::string_view name;
  const BlockBase* block;
  // Not of counts by status.
  size_t index;
  // Of counters and gauges.
  uint64_t value;
};

// The rows of one scope that are shown, sorted.
class RowStream {
 public:
  std::string_view prefix() const { return prefix_; }
  std::string_view name() const { return rows_[at_].name; }
  const Row& row() const { return rows_[at_]; }
  bool done() const { return at_ == rows_.size(); }
  void advance() { ++at_; }

 private:
  friend class RowSource;
  std::string_view prefix_;
  std::vector<Row> rows_;
  size_t at_ = 0;
  // Rows of counts by status have theirs here.
  std::vector<std::string> code_names_;
};

enum class Part : uint8_t { Texts, Values, Endpoints, Histograms };

class RowSource {
 public:
  using Stream = RowStream;
  using Blocks = std::vector<std::shared_ptr<BlockBase>>;

  RowSource(const Registry& registry, const Blocks& blocks, const Query& query, Part part)
      : registry_(registry), blocks_(blocks), query_(query), part_(part) {}

  size_t size() const { return blocks_.size(); }
  std::string_view prefix(size_t i) const { return blocks_[i]->scope().prefix; }
  size_t open(size_t i, RowStream* stream);

 private:
  void addTexts(const BlockBase& block, std::vector<Row>* rows) const;
  void addValues(const BlockBase& block, std::vector<Row>* rows);
  void addCodes(const BlockBase& block, RowStream* stream);
  void addHistograms(const BlockBase& block, std::vector<Row>* rows) const;
  bool isShown(const BlockBase& block, const StatName& stat, const Reading& reading) const;
  bool isHistogramShown(const BlockBase& block, size_t index) const;

  const Registry& registry_;
  const Blocks& blocks_;
  const Query& query_;
  const Part part_;
  std::vector<Reading> counters_;
  std::vector<Reading> gauges_;
  std::string full_name_;
};

class Walk {
 public:
  Walk(const Registry& registry, const Query& query);

  // The next row, of whatever part; its name is `prefix` + row.name. Valid until the next call.
  // Pause: the budget is used up.
  Step next(std::string_view* prefix, const Row** row, size_t* budget);

 private:
  bool isWanted(Part part) const;
  // Of the next host that has any. False: there is none.
  bool readEndpoint();

  const Registry& registry_;
  const Query& query_;
  const RowSource::Blocks blocks_;
  const RowSource::Blocks endpoints_;
  // Of these, the next one; and what is left of the one before it.
  size_t endpoint_ = 0;
  std::vector<Row> endpoint_rows_;
  size_t endpoint_row_ = 0;
  Part part_ = Part::Texts;
  std::optional<OrderedMerge<RowSource>> merge_;
  bool is_peeked_ = false;
};

}  // namespace fairlead::stats
