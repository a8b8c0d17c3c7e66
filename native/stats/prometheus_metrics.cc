#include "stats/prometheus_metrics.h"

#include <algorithm>
#include <utility>

namespace fairlead::stats {

namespace {

// The digit of "downstream_rq_2xx"; 0 for other names.
char codeClassOf(std::string_view name) {
  constexpr std::string_view kForm = "_rq_2xx";
  if (name.size() < kForm.size()) return 0;
  const std::string_view end = name.substr(name.size() - kForm.size());
  if (!end.starts_with("_rq_") || !end.ends_with("xx")) return 0;
  const char digit = end[4];
  return digit >= '1' && digit <= '5' ? digit : 0;
}

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
    const std::string metric =
        code_class ? std::string(name.substr(0, name.size() - 3)) + "xx" : std::string(name);
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
    : query_(query),
      blocks_(query.hidden_only ? std::vector<std::shared_ptr<BlockBase>>() : registry.blocks()) {
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

void MetricWalk::start(Kind kind) {
  kind_ = kind;
  merge_.emplace(MetricSource(families_, kind));
}

Step MetricWalk::next(size_t* budget) {
  series_.clear();
  for (;;) {
    if (*budget == 0) return Step::Pause;
    MetricStream* top = nullptr;
    const Step step = merge_->peek(&top, budget);
    if (step == Step::Pause) return step;
    if (step == Step::End) {
      if (kind_ == Kind::Histogram) return step;
      start(kind_ == Kind::Counter ? Kind::Gauge
            : kind_ == Kind::Gauge && query_.text_readouts ? Kind::Text
                                                           : Kind::Histogram);
      continue;
    }
    name_.assign(top->prefix()).append(top->name());
    // Families with this metric: what this costs is known only afterwards.
    size_t unlimited = SIZE_MAX;
    while (merge_->peek(&top, &unlimited) == Step::Item &&
           compareJoined(top->prefix(), top->name(), name_, "") == 0) {
      collect(top->family(), top->metric());
      const size_t cost = top->family().blocks.size() * top->metric().members.size();
      *budget -= std::min(*budget, cost);
      merge_->pop();
    }
    if (series_.empty()) continue;
    const auto isBefore = [](const Series& a, const Series& b) {
      return compareJoined(a.block->scope().prefix, a.name, b.block->scope().prefix, b.name) < 0;
    };
    if (!std::is_sorted(series_.begin(), series_.end(), isBefore)) {
      std::sort(series_.begin(), series_.end(), isBefore);
    }
    return Step::Item;
  }
}

void MetricWalk::collect(const Family& family, const Metric& metric) {
  for (const BlockBase* block : family.blocks) {
    for (const Member& member : metric.members) {
      if (member.form == Member::Form::Stat) {
        collectStat(*block, member);
      } else {
        collectCodes(*block, member);
      }
    }
  }
}

bool MetricWalk::isShown(const BlockBase& block, const StatName& stat, bool used) const {
  if (used || query_.used_only) return used;
  switch (stat.shown) {
    case Shown::Always:
      return true;
    case Shown::OnceUsed:
      return false;
    case Shown::With:
      return block.counter(stat.companion).used;
  }
  return false;
}

void MetricWalk::collectStat(const BlockBase& block, const Member& member) {
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
      reading.used = query_.used_only ? !block.total(member.index).empty()
                                      : block.isRecorded(member.index);
      break;
  }
  if (isShown(block, stat, reading.used)) add({&block, stat.name, member, {}, reading.value});
}

void MetricWalk::collectCodes(const BlockBase& block, const Member& member) {
  for (const BlockBase::Code& code : block.codes()) {
    if (code.name.variant() != member.variant || !isOfForm(code.name, member.form)) continue;
    std::string& name = code_names_[code.name];
    if (name.empty()) code.name.appendTo(&name);
    add({&block, name, member, code.name, code.value});
  }
}

void MetricWalk::add(Series series) {
  if (query_.filter) {
    full_name_.assign(series.block->scope().prefix).append(series.name);
    if (!query_.wants(full_name_)) return;
  }
  series_.push_back(series);
}

}  // namespace fairlead::stats
