// Prometheus wants all series of a metric together, so this page goes metric by metric and asks every
// scope for the one it has: no name is kept, however many scopes there are.
#include <algorithm>
#include <map>

#include "stats/numbers.h"
#include "stats/query.h"

namespace fairlead::stats {

namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

const Distribution kNothing;

bool isNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

void appendSanitized(std::string* out, std::string_view name) {
  for (const char c : name) out->push_back(isNameByte(c) ? c : '_');
}

void appendLabelValue(std::string* out, std::string_view value) {
  for (const char c : value) {
    if (c == '\\' || c == '"') out->push_back('\\');
    if (c == '\n') {
      out->append("\\n");
    } else {
      out->push_back(c);
    }
  }
}

// "downstream_rq_2xx" is metric "downstream_rq_xx" with the class as a label.
bool splitCodeClass(std::string_view name, std::string* metric, std::string* code_class) {
  if (name.size() < 4 || !name.ends_with("xx")) return false;
  const char digit = name[name.size() - 3];
  if (digit < '1' || digit > '5' || name[name.size() - 4] != '_') return false;
  *code_class = digit;
  *metric = std::string(name.substr(0, name.size() - 3)) + "xx";
  return true;
}

// "upstream_rq_200" is metric "upstream_rq" with the code as a label.
bool splitCode(std::string_view name, std::string* metric, std::string* code) {
  if (name.size() < 4) return false;
  const std::string_view digits = name.substr(name.size() - 3);
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return false;
  *code = digits;
  *metric = std::string(name.substr(0, name.size() - 4));
  return true;
}

// One statistic of every scope of a kind.
struct Source {
  // Scopes that share layout and metric prefix.
  const std::vector<const BlockBase*>* blocks;
  size_t index;
  Labels labels;
};

struct CodeSeries {
  std::string full_name;
  const BlockBase* block;
  Labels labels;
  uint64_t value;
};

struct Metric {
  std::vector<Source> sources;
  std::vector<CodeSeries> codes;
};

class PrometheusPage final : public Page {
 public:
  PrometheusPage(const Registry& registry, Query query)
      : query_(std::move(query)), blocks_(registry.blocks()) {
    for (const auto& block : blocks_) {
      groups_[{block->scope().metric_prefix, block->names(Kind::Counter).data()}].push_back(
          block.get());
    }
    if (query_.counters) collect(Kind::Counter);
    if (query_.counters) collectCodes();
    if (query_.gauges) collect(Kind::Gauge);
    if (query_.histograms) collect(Kind::Histogram);
    at_ = metrics_.begin();
  }

  bool next(std::string* out) override {
    const size_t start = out->size();
    while (at_ != metrics_.end() && out->size() - start < kPieceBytes) {
      appendMetric(out, at_->first.first, at_->first.second, at_->second);
      ++at_;
    }
    return at_ != metrics_.end();
  }

 private:
  struct Series {
    std::string full_name;
    const BlockBase* block;
    size_t index;
    const Labels* labels;
    uint64_t value;
  };

  void collect(Kind kind) {
    for (const auto& [key, blocks] : groups_) {
      const std::span<const StatName> names = blocks.front()->names(kind);
      for (size_t i = 0; i < names.size(); ++i) {
        std::string metric(names[i].name);
        std::string code_class;
        Labels labels;
        if (splitCodeClass(names[i].name, &metric, &code_class)) {
          labels.emplace_back("envoy_response_code_class", code_class);
        }
        metrics_[{kind, key.first + metric}].sources.push_back({&blocks, i, std::move(labels)});
      }
    }
  }

  void collectCodes() {
    for (const auto& block : blocks_) {
      for (const BlockBase::Code& code : block->codes()) {
        std::string full_name = block->scope().prefix + code.name;
        if (query_.filter && !query_.filter(full_name)) continue;
        std::string metric = code.name;
        std::string label;
        Labels labels;
        if (splitCodeClass(code.name, &metric, &label)) {
          labels.emplace_back("envoy_response_code_class", label);
        } else if (splitCode(code.name, &metric, &label)) {
          labels.emplace_back("envoy_response_code", label);
        }
        metrics_[{Kind::Counter, block->scope().metric_prefix + metric}].codes.push_back(
            {std::move(full_name), block.get(), std::move(labels), code.value});
      }
    }
  }

  std::vector<Series> seriesOf(Kind kind, const Metric& metric) const {
    std::vector<Series> result;
    for (const Source& source : metric.sources) {
      for (const BlockBase* block : *source.blocks) {
        const StatName& stat = block->names(kind)[source.index];
        bool used = false;
        uint64_t value = 0;
        if (kind == Kind::Counter) value = block->counter(source.index, &used);
        if (kind == Kind::Gauge) value = block->gauge(source.index, &used);
        if (kind == Kind::Histogram) used = block->isHistogramUsed(source.index);
        if (!used && (query_.used_only || stat.lazy)) continue;
        std::string full_name = block->scope().prefix;
        full_name += stat.name;
        if (query_.filter && !query_.filter(full_name)) continue;
        result.push_back({std::move(full_name), block, source.index, &source.labels, value});
      }
    }
    for (const CodeSeries& code : metric.codes) {
      result.push_back({code.full_name, code.block, 0, &code.labels, code.value});
    }
    std::sort(result.begin(), result.end(),
              [](const Series& a, const Series& b) { return a.full_name < b.full_name; });
    return result;
  }

  void appendMetric(std::string* out, Kind kind, const std::string& dotted, const Metric& metric) {
    const std::vector<Series> all = seriesOf(kind, metric);
    if (all.empty()) return;
    std::string name = "envoy_";
    appendSanitized(&name, dotted);
    const bool summary = query_.buckets == Buckets::Summary;
    const char* type = kind == Kind::Counter ? "counter"
                       : kind == Kind::Gauge ? "gauge"
                       : summary             ? "summary"
                                             : "histogram";
    out->append("# TYPE ").append(name).append(" ").append(type).append("\n");
    for (const Series& series : all) {
      const std::string labels = labelsOf(series);
      if (kind != Kind::Histogram) {
        out->append(name).append("{").append(labels).append("} ");
        appendNumber(out, series.value);
        out->push_back('\n');
      } else if (summary) {
        appendSummary(out, name, labels, series);
      } else {
        appendBuckets(out, name, labels, series);
      }
    }
  }

  std::string labelsOf(const Series& series) const {
    std::string text;
    const auto add = [&text](const std::string& name, const std::string& value) {
      if (!text.empty()) text.push_back(',');
      appendSanitized(&text, name);
      text.append("=\"");
      appendLabelValue(&text, value);
      text.push_back('"');
    };
    for (const auto& [name, value] : *series.labels) add(name, value);
    for (const auto& [name, value] : query_.fixed_labels) add(name, value);
    for (const auto& [name, value] : series.block->scope().labels) add(name, value);
    return text;
  }

  static void appendBuckets(std::string* out, const std::string& name, const std::string& labels,
                            const Series& series) {
    const Distribution* known = series.block->total(series.index);
    const Distribution& total = known ? *known : kNothing;
    const std::string separator = labels.empty() ? "" : ",";
    for (const double bound : kBucketBounds) {
      out->append(name).append("_bucket{").append(labels).append(separator).append("le=\"");
      appendSignificant(out, bound, 32);
      out->append("\"} ");
      appendNumber(out, total.atOrBelow(bound));
      out->push_back('\n');
    }
    out->append(name).append("_bucket{").append(labels).append(separator).append("le=\"+Inf\"} ");
    appendNumber(out, total.count());
    out->push_back('\n');
    appendSumAndCount(out, name, labels, total);
  }

  static void appendSummary(std::string* out, const std::string& name, const std::string& labels,
                            const Series& series) {
    const Distribution* known = series.block->interval(series.index);
    const Distribution& interval = known ? *known : kNothing;
    const std::string separator = labels.empty() ? "" : ",";
    for (const double q : kQuantiles) {
      out->append(name).append("{").append(labels).append(separator).append("quantile=\"");
      appendShortest(out, q);
      out->append("\"} ");
      appendSignificant(out, interval.quantile(q), 32);
      out->push_back('\n');
    }
    appendSumAndCount(out, name, labels, interval);
  }

  static void appendSumAndCount(std::string* out, const std::string& name,
                                const std::string& labels, const Distribution& of) {
    out->append(name).append("_sum{").append(labels).append("} ");
    appendSignificant(out, of.sum(), 32);
    out->append("\n").append(name).append("_count{").append(labels).append("} ");
    appendNumber(out, of.count());
    out->push_back('\n');
  }

  const Query query_;
  const std::vector<std::shared_ptr<BlockBase>> blocks_;
  std::map<std::pair<std::string, const StatName*>, std::vector<const BlockBase*>> groups_;
  // By kind (counters, gauges, histograms), then by dotted name.
  std::map<std::pair<Kind, std::string>, Metric> metrics_;
  std::map<std::pair<Kind, std::string>, Metric>::const_iterator at_;
};

}  // namespace

std::unique_ptr<Page> openPrometheus(const Registry& registry, Query query) {
  return std::make_unique<PrometheusPage>(registry, std::move(query));
}

}  // namespace fairlead::stats
