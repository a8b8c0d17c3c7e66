#include "stats/walk.h"

#include <algorithm>

namespace fairlead::stats {

bool RowSource::isShown(const BlockBase& block, const StatName& stat,
                        const Reading& reading) const {
  if (reading.used || query_.used_only) return reading.used;
  if (reading.is_imported) return true;
  switch (stat.shown) {
    case Shown::Always:
      return true;
    case Shown::OnceUsed:
      return false;
    case Shown::With:
      return block.showsCompanionsOf(stat.companion, counters_[stat.companion].used);
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
    if (!isShown(block, name, reading) || block.isRejected(stat.kind, stat.index)) continue;
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

namespace {

RowSource::Blocks fitting(RowSource::Blocks endpoints, const Query& query) {
  if (query.may_begin) {
    std::erase_if(endpoints,
                  [&](const auto& block) { return !query.may_begin(block->scope().prefix); });
  }
  return endpoints;
}

}  // namespace

Walk::Walk(const Registry& registry, const Query& query)
    : registry_(registry),
      query_(query),
      blocks_(query.hidden_only ? RowSource::Blocks() : registry.shownBlocks(query.may_begin)),
      endpoints_(query.hidden_only ? RowSource::Blocks() : fitting(registry.endpoints(), query)) {
  merge_.emplace(RowSource(registry_, blocks_, query_, part_));
}

bool Walk::isWanted(Part part) const {
  switch (part) {
    case Part::Texts:
      return query_.texts;
    case Part::Values:
    case Part::Endpoints:
      return query_.counters || query_.gauges;
    case Part::Histograms:
      return query_.histograms;
  }
  return false;
}

// Counters, then gauges, `healthy` being the last.
bool Walk::readEndpoint() {
  endpoint_rows_.clear();
  endpoint_row_ = 0;
  while (endpoint_rows_.empty() && endpoint_ < endpoints_.size()) {
    const BlockBase& block = *endpoints_[endpoint_++];
    const auto add = [&](Kind kind, size_t index, uint64_t value) {
      const std::string_view name = block.layout().names(kind)[index].name;
      if (!query_.wants(block.scope().prefix + std::string(name))) return;
      endpoint_rows_.push_back({kind, name, &block, index, value});
    };
    for (size_t i = 0; query_.counters && i < block.layout().counters.size(); ++i) {
      add(Kind::Counter, i, block.counter(i).value);
    }
    constexpr auto kHealthy = static_cast<size_t>(Endpoint::Gauge::Healthy);
    for (size_t i = 0; query_.gauges && i < block.layout().gauges.size(); ++i) {
      if (i != kHealthy) add(Kind::Gauge, i, block.gauge(i).value);
    }
    if (query_.gauges) add(Kind::Gauge, kHealthy, block.gauge(kHealthy).value);
  }
  return !endpoint_rows_.empty();
}

Step Walk::next(std::string_view* prefix, const Row** row, size_t* budget) {
  if (is_peeked_) merge_->pop();
  is_peeked_ = false;
  for (;;) {
    if (part_ == Part::Endpoints && isWanted(part_) &&
        (endpoint_row_ < endpoint_rows_.size() || readEndpoint())) {
      *row = &endpoint_rows_[endpoint_row_++];
      *prefix = (*row)->block->scope().prefix;
      return Step::Item;
    }
    if (part_ == Part::Endpoints) {
      part_ = Part::Histograms;
      merge_.emplace(RowSource(registry_, blocks_, query_, part_));
    }
    RowStream* top = nullptr;
    const Step step = isWanted(part_) ? merge_->peek(&top, budget) : Step::End;
    if (step == Step::Item) {
      *prefix = top->prefix();
      *row = &top->row();
      is_peeked_ = true;
      return step;
    }
    if (step == Step::Pause || part_ == Part::Histograms) return step;
    part_ = part_ == Part::Texts ? Part::Values : Part::Endpoints;
    if (part_ == Part::Endpoints) continue;
    merge_.emplace(RowSource(registry_, blocks_, query_, part_));
  }
}

}  // namespace fairlead::stats
