#include "stats/prometheus_metrics.h"

#include <algorithm>
#include <utility>

#include "stats/tagged_name.h"

namespace fairlead::stats {

namespace {

void addCodeMetrics(const Layout& layout, std::map<std::string, std::vector<Member>>* metrics) {
  using Form = Member::Form;
  for (int i = 0; i < kCodeVariants; ++i) {
    const auto variant = static_cast<CodeVariant>(i);
    const std::string name = std::string(CodeName::completed(variant).prefix()) + "upstream_rq";
    (*metrics)[name].push_back({Form::Status, 0, 0, variant});
    (*metrics)[name + "_xx"].push_back({Form::Family, 0, 0, variant});
    (*metrics)[name + "_unknown"].push_back({Form::Unknown, 0, 0, variant});
    if (variant == CodeVariant::All && layout.has_completed) continue;
    (*metrics)[name + "_completed"].push_back({Form::Completed, 0, 0, variant});
  }
}

bool isOfForm(CodeName code, Member::Form form) {
  switch (form) {
    case Member::Form::Stat:
      return false;
    case Member::Form::Status:
      return code.statusNumber() > 0;
    case Member::Form::Family:
      return code.familyDigit() > 0;
    case Member::Form::Completed:
      return code == CodeName::completed(code.variant());
    case Member::Form::Unknown:
      return code == CodeName::unknown(code.variant());
  }
  return false;
}

}  // namespace

std::vector<Metric> metricsOf(const Layout& layout, Kind kind) {
  std::map<std::string, std::vector<Member>> metrics;
  const std::span<const StatName> names = layout.names(kind);
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string_view name = names[i].name;
    const char code_class = codeClassOf(name);
    const AgreedName agreed = agreedNameOf(name);
    const std::string metric = code_class ? std::string(name.substr(0, name.size() - 3)) + "xx"
                               : isEndOfLabel(name)
                                   ? std::string()
                                   : std::string(agreed.label.empty() ? name : agreed.metric);
    metrics[metric].push_back({Member::Form::Stat, i, code_class, CodeVariant::All});
  }
  if (kind == Kind::Counter && layout.has_codes) addCodeMetrics(layout, &metrics);
  std::vector<Metric> result;
  result.reserve(metrics.size());
  for (auto& [name, members] : metrics) result.push_back({name, std::move(members)});
  return result;
}

size_t MetricSource::open(size_t i, MetricStream* stream) {
  const Family& family = families_[i];
  auto known = metrics_.find(family.layout);
  if (known == metrics_.end()) {
    known = metrics_.emplace(family.layout, metricsOf(*family.layout, kind_)).first;
  }
  stream->family_ = &family;
  stream->metrics_ = &known->second;
  stream->at_ = 0;
  return 1;
}

MetricWalk::MetricWalk(const Registry& registry, const Query& query)
    : registry_(registry),
      query_(query),
      blocks_(query.hidden_only ? std::vector<std::shared_ptr<BlockBase>>()
                                : registry.shownBlocks()),
      endpoints_(query.hidden_only ? std::vector<std::shared_ptr<BlockBase>>()
                                   : registry.endpoints()) {}

std::optional<Kind> MetricWalk::nextKind() const {
  switch (kind_) {
    case Kind::Counter:
      return Kind::Gauge;
    case Kind::Gauge:
      return query_.text_readouts ? Kind::Text : Kind::Histogram;
    case Kind::Text:
      return Kind::Histogram;
    case Kind::Histogram:
      return std::nullopt;
  }
  return std::nullopt;
}

bool MetricWalk::isShown(const BlockBase& block, const StatName& stat,
                         const Reading& reading) const {
  if (reading.used || query_.used_only) return reading.used;
  if (reading.is_imported) return true;
  switch (stat.shown) {
    case Shown::Always:
      return true;
    case Shown::OnceUsed:
      return false;
    case Shown::With:
      return block.showsCompanionsOf(stat.companion, block.counter(stat.companion).used);
  }
  return false;
}

void MetricWalk::collectStat(const BlockBase& block, const Member& member) {
  if (block.isRejected(kind_, member.index)) return;
  const StatName& stat = block.layout().names(kind_)[member.index];
  Reading reading = {0, false};
  switch (kind_) {
    case Kind::Counter:
      reading = block.counter(member.index);
      break;
    case Kind::Gauge:
      reading = block.gauge(member.index);
      break;
    case Kind::Text:
      reading.used = block.isTextSet(member.index);
      break;
    case Kind::Histogram:
      reading.used =
          query_.used_only ? !block.total(member.index).empty() : block.isRecorded(member.index);
      break;
  }
  if (isShown(block, stat, reading)) add({&block, stat.name, member, {}, reading.value});
}

void MetricWalk::collectCode(const BlockBase& block, const Member& member,
                             const BlockBase::Code& code) {
  if (query_.used_only && !code.used) return;
  std::string& name = code_names_[code.name];
  if (name.empty()) code.name.appendTo(&name);
  full_name_.assign(block.scope().prefix).append(name);
  if (registry_.rejects(full_name_)) return;
  add({&block, name, member, code.name, code.value});
}

void MetricWalk::add(Series series) {
  if (query_.filter) {
    full_name_.assign(series.block->scope().prefix).append(series.name);
    if (!query_.wants(full_name_)) return;
  }
  series_.push_back(series);
}

void MetricWalk::sortSeries() {
  const auto isBefore = [](const Series& a, const Series& b) {
    return compareJoined(a.block->scope().prefix, a.name, b.block->scope().prefix, b.name) < 0;
  };
  if (!std::is_sorted(series_.begin(), series_.end(), isBefore)) {
    std::sort(series_.begin(), series_.end(), isBefore);
  }
}

Step MetricWalk::nextOfEndpoints() {
  series_.clear();
  if (endpoints_.empty()) return Step::End;
  const Layout& layout = Endpoint::kLayout;
  while (endpoint_stat_ < layout.counters.size() + layout.gauges.size()) {
    const bool is_counter = endpoint_stat_ < layout.counters.size();
    const size_t index = is_counter ? endpoint_stat_ : endpoint_stat_ - layout.counters.size();
    ++endpoint_stat_;
    kind_ = is_counter ? Kind::Counter : Kind::Gauge;
    const std::string_view name = layout.names(kind_)[index].name;
    for (const std::shared_ptr<BlockBase>& block : endpoints_) {
      const Reading reading = is_counter ? block->counter(index) : block->gauge(index);
      add({block.get(), name, {Member::Form::Stat, index, 0, CodeVariant::All}, {}, reading.value});
    }
    if (series_.empty()) continue;
    sortSeries();
    name_.assign(endpoints_.front()->scope().metric_prefix).append(name);
    return Step::Item;
  }
  return Step::End;
}

std::unique_ptr<MetricWalk> openMetrics(const Registry& registry, const Query& query) {
  if (registry.tagProducer()) return std::make_unique<TagMetricWalk>(registry, query);
  return std::make_unique<ScopeMetricWalk>(registry, query);
}

// ---- labels of scopes ----

ScopeMetricWalk::ScopeMetricWalk(const Registry& registry, const Query& query)
    : MetricWalk(registry, query) {
  std::map<std::pair<std::string_view, const Layout*>, std::vector<const BlockBase*>> families;
  for (const auto& block : blocks_) {
    families[{block->scope().metric_prefix, &block->layout()}].push_back(block.get());
  }
  families_.reserve(families.size());
  for (auto& [key, blocks] : families) {
    families_.push_back({key.first, key.second, std::move(blocks)});
  }
  start(Kind::Counter);
}

void ScopeMetricWalk::start(Kind kind) {
  kind_ = kind;
  merge_.emplace(MetricSource(families_, kind));
}

Step ScopeMetricWalk::next(size_t* budget) {
  if (parts_.empty()) series_.clear();
  for (;;) {
    if (!collect(budget)) return Step::Pause;
    if (!series_.empty()) {
      sortSeries();
      return Step::Item;
    }
    MetricStream* top = nullptr;
    const Step step = merge_->peek(&top, budget);
    if (step == Step::Pause) return step;
    if (step == Step::End) {
      const std::optional<Kind> kind = is_done_ ? std::nullopt : nextKind();
      is_done_ = !kind;
      if (!kind) return nextOfEndpoints();
      start(*kind);
      continue;
    }
    name_.assign(top->prefix()).append(top->name());
    // Families with this metric: they are few.
    size_t unlimited = SIZE_MAX;
    while (merge_->peek(&top, &unlimited) == Step::Item &&
           compareJoined(top->prefix(), top->name(), name_, "") == 0) {
      parts_.push_back({&top->family(), &top->metric(), 0});
      merge_->pop();
    }
  }
}

bool ScopeMetricWalk::collect(size_t* budget) {
  for (; !parts_.empty(); parts_.pop_back()) {
    auto& [family, metric, at] = parts_.back();
    for (; at < family->blocks.size(); ++at) {
      if (*budget == 0) return false;
      collect(*family->blocks[at], *metric);
      *budget -= std::min(*budget, metric->members.size());
    }
  }
  return true;
}

void ScopeMetricWalk::collect(const BlockBase& block, const Metric& metric) {
  for (const Member& member : metric.members) {
    if (member.form == Member::Form::Stat) {
      collectStat(block, member);
      continue;
    }
    for (const BlockBase::Code& code : block.codes(member.variant)) {
      if (isOfForm(code.name, member.form)) collectCode(block, member, code);
    }
  }
}

// ---- labels by rules ----

Step TagMetricWalk::next(size_t* budget) {
  for (;;) {
    if (at_ == blocks_.size() && !metrics_.empty()) {
      const auto first = metrics_.begin();
      name_ = first->first;
      series_ = std::move(first->second);
      metrics_.erase(first);
      sortSeries();
      return Step::Item;
    }
    if (at_ == blocks_.size()) {
      const std::optional<Kind> kind = is_done_ ? std::nullopt : nextKind();
      is_done_ = !kind;
      if (!kind) return nextOfEndpoints();
      kind_ = *kind;
      at_ = 0;
    }
    if (blocks_.empty()) return Step::End;
    if (*budget == 0) return Step::Pause;
    gather(*blocks_[at_++]);
    // A rule costs more than a look.
    constexpr size_t kLooks = 10;
    *budget -= std::min(*budget, (series_.size() + 1) * kLooks);
  }
}

void TagMetricWalk::gather(const BlockBase& block) {
  using Form = Member::Form;
  series_.clear();
  const size_t count = block.layout().names(kind_).size();
  for (size_t i = 0; i < count; ++i) collectStat(block, {Form::Stat, i, 0, CodeVariant::All});
  if (kind_ == Kind::Counter) {
    for (const BlockBase::Code& code : block.codes()) {
      collectCode(block, {Form::Stat, 0, 0, code.name.variant()}, code);
    }
  }
  std::vector<Label> labels;
  std::string metric;
  for (const Series& series : series_) {
    labels.clear();
    metric.clear();
    appendTagged(registry_, *series.block, series.name, series.code, &labels, &metric);
    metrics_[metric].push_back(series);
  }
}

}  // namespace fairlead::stats
