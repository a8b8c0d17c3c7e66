// Statistics by metric, as Prometheus wants them: all series of a metric together. Scopes that
// differ in their labels alone are one family, so that metrics are as many as families have, not
// scopes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stats/ordered_merge.h"
#include "stats/query.h"

namespace fairlead::stats {

// What of a scope a metric shows: one statistic, or one form of its counts by status.
struct Member {
  enum class Form : uint8_t { Stat, Status, Family, Completed, Unknown };
  Form form;
  // Of Stat.
  size_t index;
  // Of a Stat that is named after a class of codes ("downstream_rq_2xx"): '2'; else 0.
  char code_class;
  // Of all others.
  CodeVariant variant;
};

struct Metric {
  // Within its scope, without what became labels: "downstream_rq_xx".
  std::string name;
  std::vector<Member> members;
};

// The metrics of a layout, sorted by name.
std::vector<Metric> metricsOf(const Layout& layout, Kind kind);

// All scopes with the same layout and metric prefix.
struct Family {
  std::string_view metric_prefix;
  const Layout* layout;
  // Sorted by prefix.
  std::vector<const BlockBase*> blocks;
};

class MetricStream {
 public:
  std::string_view prefix() const { return family_->metric_prefix; }
  std::string_view name() const { return (*metrics_)[at_].name; }
  const Metric& metric() const { return (*metrics_)[at_]; }
  const Family& family() const { return *family_; }
  bool done() const { return at_ == metrics_->size(); }
  void advance() { ++at_; }

 private:
  friend class MetricSource;
  const Family* family_ = nullptr;
  const std::vector<Metric>* metrics_ = nullptr;
  size_t at_ = 0;
};

// The metrics of one kind, of all families.
class MetricSource {
 public:
  using Stream = MetricStream;
  MetricSource(const std::vector<Family>& families, Kind kind) : families_(families), kind_(kind) {}

  size_t size() const { return families_.size(); }
  std::string_view prefix(size_t i) const { return families_[i].metric_prefix; }
  size_t open(size_t i, MetricStream* stream);

 private:
  const std::vector<Family>& families_;
  const Kind kind_;
  std::map<const Layout*, std::vector<Metric>> metrics_;
};

// One line of a metric, or the lines of one histogram.
struct Series {
  const BlockBase* block;
  // Within the block's scope.
  std::string_view name;
  Member member;
  // Of counts by status.
  CodeName code;
  // Of counters and gauges.
  uint64_t value;
};

// Goes through all metrics, a kind after the other, each with its series.
class MetricWalk {
 public:
  virtual ~MetricWalk() = default;

  // The next metric that has series, these sorted by full name. Pause: the budget is used up;
  // until there is an item, series() is none's.
  virtual Step next(size_t* budget) = 0;

  Kind kind() const { return kind_; }
  // "cluster.upstream_rq_xx"
  const std::string& name() const { return name_; }
  const std::vector<Series>& series() const { return series_; }

 protected:
  MetricWalk(const Registry& registry, const Query& query);

  // The kind that follows; none after the last.
  std::optional<Kind> nextKind() const;
  // Adds to series() what is shown.
  void collectStat(const BlockBase& block, const Member& member);
  void collectCode(const BlockBase& block, const Member& member, const BlockBase::Code& code);
  void sortSeries();
  // The next metric of single hosts, which come behind all others: their counters, then their
  // gauges. End: there is none.
  Step nextOfEndpoints();

  const Registry& registry_;
  const Query& query_;
  const std::vector<std::shared_ptr<BlockBase>> blocks_;
  Kind kind_ = Kind::Counter;
  std::string name_;
  std::vector<Series> series_;
  // All kinds have been gone through.
  bool is_done_ = false;

 private:
  bool isShown(const BlockBase& block, const StatName& stat, const Reading& reading) const;
  void add(Series series);

  std::map<CodeName, std::string> code_names_;
  std::string full_name_;
  const std::vector<std::shared_ptr<BlockBase>> endpoints_;
  // Of their counters and gauges, the next one.
  size_t endpoint_stat_ = 0;
};

// The one that the registry's configuration wants.
std::unique_ptr<MetricWalk> openMetrics(const Registry& registry, const Query& query);

// By the labels that scopes know of themselves: no full name is made.
class ScopeMetricWalk final : public MetricWalk {
 public:
  ScopeMetricWalk(const Registry& registry, const Query& query);
  Step next(size_t* budget) override;

 private:
  // One family's part of the metric at hand, and the block to look at next.
  struct Part {
    const Family* family;
    const Metric* metric;
    size_t at;
  };

  void start(Kind kind);
  // Of the parts that are left. False: the budget is used up before.
  bool collect(size_t* budget);
  void collect(const BlockBase& block, const Metric& metric);

  std::vector<Family> families_;
  std::optional<OrderedMerge<MetricSource>> merge_;
  std::vector<Part> parts_;
};

// By the registry's rules for tags: all series of a kind are looked at before the first is shown.
class TagMetricWalk final : public MetricWalk {
 public:
  TagMetricWalk(const Registry& registry, const Query& query) : MetricWalk(registry, query) {}
  Step next(size_t* budget) override;

 private:
  void gather(const BlockBase& block);

  // The next block to look at.
  size_t at_ = 0;
  // Of the kind at hand, by metric.
  std::map<std::string, std::vector<Series>> metrics_;
};

}  // namespace fairlead::stats
