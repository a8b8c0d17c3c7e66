// Prometheus' text exposition format, version 0.0.4.
#include <map>

#include "stats/buckets.h"
#include "stats/numbers.h"
#include "stats/pace.h"
#include "stats/series_labels.h"

namespace fairlead::stats {

namespace {

void appendLabel(std::string* out, std::string_view name, std::string_view value) {
  if (!out->empty()) out->push_back(',');
  appendMetricName(out, name);
  out->append("=\"");
  appendEscaped(out, value);
  out->push_back('"');
}

const char* typeOf(Kind kind, bool is_summary) {
  switch (kind) {
    case Kind::Counter:
      return "counter";
    case Kind::Gauge:
    case Kind::Text:
      return "gauge";
    case Kind::Histogram:
      return is_summary ? "summary" : "histogram";
  }
  return "";
}

class PrometheusPage final : public Page {
 public:
  PrometheusPage(const Registry& registry, Query query)
      : registry_(registry), query_(std::move(query)), walk_(openMetrics(registry, query_)) {}

  bool next(std::string* out) override {
    const size_t start = out->size();
    Pace pace;
    while (out->size() - start < kPieceBytes) {
      if (at_ < walk_->series().size()) {
        append(out, walk_->series()[at_++]);
        continue;
      }
      const Step step = walk_->next(&pace.budget);
      if (step == Step::End) return false;
      if (step == Step::Pause) {
        at_ = SIZE_MAX;
        if (!pace.goOn()) return true;
        continue;
      }
      at_ = 0;
      metric_ = "envoy_";
      appendMetricName(&metric_, walk_->name());
      out->append("# TYPE ").append(metric_).append(" ");
      out->append(typeOf(walk_->kind(), isSummary())).append("\n");
    }
    return true;
  }

 private:
  bool isSummary() const { return query_.buckets == Buckets::Summary; }

  void append(std::string* out, const Series& series) {
    labels_.clear();
    forEachLabel(registry_, walk_->kind(), series,
                 [this](auto name, auto value) { appendLabel(&labels_, name, value); });
    switch (walk_->kind()) {
      case Kind::Counter:
      case Kind::Gauge:
        appendLine(out, "", "", series.value);
        return;
      case Kind::Text:
        appendLine(out, "", "", 0);
        return;
      case Kind::Histogram:
        if (isSummary()) {
          appendSummary(out, series.block->interval(series.member.index));
        } else {
          appendBuckets(out, series);
        }
        return;
    }
  }

  // The metric's name with a suffix, and its labels with one more (`le="0.5"`).
  void appendHead(std::string* out, std::string_view suffix, std::string_view more) const {
    out->append(metric_).append(suffix).append("{").append(labels_);
    if (!more.empty() && !labels_.empty()) out->push_back(',');
    out->append(more).append("} ");
  }
  void appendLine(std::string* out, std::string_view suffix, std::string_view more,
                  uint64_t value) const {
    appendHead(out, suffix, more);
    appendNumber(out, value);
    out->push_back('\n');
  }

  void appendBuckets(std::string* out, const Series& series) {
    const Distribution& total = series.block->total(series.member.index);
    name_.assign(series.block->scope().prefix).append(series.name);
    const std::span<const double> bounds = registry_.bucketBounds(name_);
    const std::vector<std::string>& labels = boundLabels(bounds);
    const std::vector<uint64_t> counts = total.atOrBelow(bounds);
    for (size_t i = 0; i < counts.size(); ++i) appendLine(out, "_bucket", labels[i], counts[i]);
    appendLine(out, "_bucket", "le=\"+Inf\"", total.count());
    appendSumAndCount(out, total);
  }

  void appendSummary(std::string* out, const Distribution& interval) const {
    for (const double q : kQuantiles) {
      std::string label = "quantile=\"";
      appendShortest(&label, q);
      label.push_back('"');
      appendHead(out, "", label);
      appendSignificant(out, interval.quantile(q), 32);
      out->push_back('\n');
    }
    appendSumAndCount(out, interval);
  }

  void appendSumAndCount(std::string* out, const Distribution& of) const {
    appendHead(out, "_sum", "");
    appendSignificant(out, of.sum(), 32);
    out->push_back('\n');
    appendLine(out, "_count", "", of.count());
  }

  // 32 digits are slow to make, and there are few sets of bounds.
  const std::vector<std::string>& boundLabels(std::span<const double> bounds) {
    std::vector<std::string>& labels = bound_labels_[bounds.data()];
    if (labels.empty()) {
      for (const double bound : bounds) {
        std::string label = "le=\"";
        appendSignificant(&label, bound, 32);
        labels.push_back(label + "\"");
      }
    }
    return labels;
  }

  const Registry& registry_;
  const Query query_;
  const std::unique_ptr<MetricWalk> walk_;
  // Of the metric at hand, the next series; past them all while the next metric is looked for.
  size_t at_ = SIZE_MAX;
  std::string metric_;
  // Of the series at hand.
  std::string labels_;
  std::string name_;
  std::map<const double*, std::vector<std::string>> bound_labels_;
};

}  // namespace

std::unique_ptr<Page> openPrometheus(const Registry& registry, Query query) {
  return std::make_unique<PrometheusPage>(registry, std::move(query));
}

}  // namespace fairlead::stats
