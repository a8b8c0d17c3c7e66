#include "stats/walk.h"

#include <algorithm>

namespace fairlead::stats {

bool RowSource::isShown(const StatName& stat, bool used) const {
  if (used || query_.used_only) return used;
  switch (stat.shown) {
    case Shown::Always:
      return true;
    case Shown::OnceUsed:
      return false;
    case Shown::With:
      return counters_[stat.companion].used;
  }
  return false;
}

size_t RowSource::open(size_t i, RowStream* stream) {
  const BlockBase& block = *blocks_[i];
  stream->prefix_ = block.scope().prefix;
  stream->at_ = 0;
  std::vector<Row>& rows = stream->rows_;
  rows.clear();
  if (part_ == Part::Texts) addTexts(block, &rows);
  if (part_ == Part::Values) {
    addValues(block, &rows);
    if (query_.counters) addCodes(block, stream);
  }
  if (part_ == Part::Histograms) addHistograms(block, &rows);
  const size_t seen = rows.size() + 1;
  if (query_.filter) {
    full_name_ = stream->prefix_;
    std::erase_if(rows, [&](const Row& row) {
      full_name_.resize(stream->prefix_.size());
      full_name_ += row.name;
      return !query_.wants(full_name_);
    });
  }
  return seen;
}

void RowSource::addTexts(const BlockBase& block, std::vector<Row>* rows) const {
  const std::span<const StatName> names = block.layout().texts;
  for (size_t i = 0; i < names.size(); ++i) {
    if (query_.used_only && !block.isTextSet(i)) continue;
    if (block.isRejected(Kind::Text, i)) continue;
    rows->push_back({Kind::Text, names[i].name, &block, i, 0});
  }
}

void RowSource::addValues(const BlockBase& block, std::vector<Row>* rows) {
  const Layout& layout = block.layout();
  block.readCounters(&counters_);
  block.readGauges(&gauges_);
  for (const StatRef stat : layout.values) {
    const bool is_counter = stat.kind == Kind::Counter;
    if (is_counter ? !query_.counters : !query_.gauges) continue;
    const Reading& reading = is_counter ? counters_[stat.index] : gauges_[stat.index];
    const StatName& name = layout.name(stat);
    if (!isShown(name, reading.used) || block.isRejected(stat.kind, stat.index)) continue;
    rows->push_back({stat.kind, name.name, &block, stat.index, reading.value});
  }
}

void RowSource::addCodes(const BlockBase& block, RowStream* stream) {
  const std::vector<BlockBase::Code> codes = block.codes();
  if (codes.empty()) return;
  std::vector<std::string>& names = stream->code_names_;
  if (names.size() < codes.size()) names.resize(codes.size());
  std::vector<Row>& rows = stream->rows_;
  const auto middle = static_cast<std::ptrdiff_t>(rows.size());
  for (size_t i = 0; i < codes.size(); ++i) {
    if (query_.used_only && !codes[i].used) continue;
    names[i].clear();
    codes[i].name.appendTo(&names[i]);
    full_name_.assign(stream->prefix_).append(names[i]);
    if (registry_.rejects(full_name_)) continue;
    rows.push_back({Kind::Counter, names[i], &block, 0, codes[i].value});
  }
  std::inplace_merge(rows.begin(), rows.begin() + middle, rows.end(),
                     [](const Row& a, const Row& b) { return a.name < b.name; });
}

void RowSource::addHistograms(const BlockBase& block, std::vector<Row>* rows) const {
  const std::span<const StatName> names = block.layout().histograms;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!isHistogramShown(block, i) || block.isRejected(Kind::Histogram, i)) continue;
    rows->push_back({Kind::Histogram, names[i].name, &block, i, 0});
  }
}

bool RowSource::isHistogramShown(const BlockBase& block, size_t index) const {
  if (query_.used_only) return !block.total(index).empty();
  return block.layout().histograms[index].shown == Shown::Always || block.isRecorded(index);
}

Walk::Walk(const Registry& registry, const Query& query)
    : registry_(registry),
      query_(query),
      blocks_(query.hidden_only ? RowSource::Blocks() : registry.blocks()) {
  merge_.emplace(RowSource(registry_, blocks_, query_, part_));
}

bool Walk::isWanted(Part part) const {
  switch (part) {
    case Part::Texts:
      return query_.texts;
    case Part::Values:
      return query_.counters || query_.gauges;
    case Part::Histograms:
      return query_.histograms;
  }
  return false;
}

Step Walk::next(std::string_view* prefix, const Row** row, size_t* budget) {
  if (is_peeked_) merge_->pop();
  is_peeked_ = false;
  for (;;) {
    RowStream* top = nullptr;
    const Step step = isWanted(part_) ? merge_->peek(&top, budget) : Step::End;
    if (step == Step::Item) {
      *prefix = top->prefix();
      *row = &top->row();
      is_peeked_ = true;
      return step;
    }
    if (step == Step::Pause || part_ == Part::Histograms) return step;
    part_ = part_ == Part::Texts ? Part::Values : Part::Histograms;
    merge_.emplace(RowSource(registry_, blocks_, query_, part_));
  }
}

}  // namespace fairlead::stats
