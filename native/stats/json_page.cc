#include "base/json.h"
#include "stats/buckets.h"
#include "stats/numbers.h"
#include "stats/pace.h"
#include "stats/query.h"
#include "stats/walk.h"

namespace fairlead::stats {

namespace {

void appendOrNull(std::string* out, double value) {
  if (std::isnan(value)) {
    out->append("null");
  } else {
    appendShortest(out, value);
  }
}

void appendQuantiles(std::string* out, const char* key) {
  out->append("\"").append(key).append("\":[");
  bool first = true;
  for (const double q : kQuantiles) {
    if (!first) out->push_back(',');
    first = false;
    appendSignificant(out, q * 100, 6);
  }
  out->push_back(']');
}

void appendValues(std::string* out, const Distribution& interval, const Distribution& total) {
  out->push_back('[');
  bool first = true;
  for (const double q : kQuantiles) {
    out->append(first ? "{\"cumulative\":" : ",{\"cumulative\":");
    first = false;
    appendOrNull(out, total.quantile(q));
    out->append(",\"interval\":");
    appendOrNull(out, interval.quantile(q));
    out->push_back('}');
  }
  out->push_back(']');
}

void appendBuckets(std::string* out, const Distribution& interval, const Distribution& total,
                   std::span<const double> bounds, Buckets buckets) {
  const std::vector<uint64_t> in_interval = bucketCounts(interval, bounds, buckets);
  const std::vector<uint64_t> in_total = bucketCounts(total, bounds, buckets);
  out->push_back('[');
  for (size_t i = 0; i < bounds.size(); ++i) {
    out->append(i == 0 ? "{\"upper_bound\":" : ",{\"upper_bound\":");
    appendShortest(out, bounds[i]);
    out->append(",\"interval\":");
    appendNumber(out, in_interval[i]);
    out->append(",\"cumulative\":");
    appendNumber(out, in_total[i]);
    out->push_back('}');
  }
  out->push_back(']');
}

void appendBinObjects(std::string* out, const Distribution& of) {
  out->push_back('[');
  bool first = true;
  for (const Distribution::Entry& entry : of.entries()) {
    out->append(first ? "{\"lower_bound\":" : ",{\"lower_bound\":");
    first = false;
    appendShortest(out, lowerEdge(entry.bin));
    out->append(",\"width\":");
    appendShortest(out, binWidth(entry.bin));
    out->append(",\"count\":");
    appendNumber(out, entry.count);
    out->push_back('}');
  }
  out->push_back(']');
}

class JsonPage final : public Page {
 public:
  JsonPage(const Registry& registry, Query query)
      : registry_(registry), query_(std::move(query)), walk_(registry, query_) {}

  bool next(std::string* out) override {
    const size_t start = out->size();
    Pace pace;
    while (out->size() - start < kPieceBytes) {
      std::string_view prefix;
      const Row* row = nullptr;
      const Step step = walk_.next(&prefix, &row, &pace.budget);
      if (step == Step::Pause) {
        if (!pace.goOn()) return true;
        continue;
      }
      if (step == Step::End) {
        end(out);
        return false;
      }
      name_.assign(prefix).append(row->name);
      append(out, *row);
    }
    return true;
  }

 private:
  void append(std::string* out, const Row& row) {
    if (row.kind == Kind::Histogram) {
      if (in_histograms_) {
        out->push_back(',');
      } else {
        separate(out);
        openHistograms(out);
        in_histograms_ = true;
      }
      appendHistogram(out, row);
      return;
    }
    separate(out);
    out->append("{\"name\":");
    appendJsonString(out, name_);
    out->append(",\"value\":");
    if (row.kind == Kind::Text) {
      appendJsonString(out, row.block->text(row.index));
    } else {
      appendNumber(out, row.value);
    }
    out->push_back('}');
  }

  void appendHistogram(std::string* out, const Row& row) const {
    const Distribution& interval = row.block->interval(row.index);
    const Distribution& total = row.block->total(row.index);
    out->append("{\"name\":");
    appendJsonString(out, name_);
    switch (buckets()) {
      case Buckets::Summary:
        out->append(",\"values\":");
        appendValues(out, interval, total);
        break;
      case Buckets::Cumulative:
      case Buckets::Disjoint:
        out->append(",\"buckets\":");
        appendBuckets(out, interval, total, registry_.bucketBounds(name_), buckets());
        break;
      case Buckets::Detailed:
        out->append(",\"totals\":");
        appendBinObjects(out, total);
        out->append(",\"intervals\":");
        appendBinObjects(out, interval);
        out->append(",\"percentiles\":");
        appendValues(out, interval, total);
        break;
    }
    out->push_back('}');
  }

  // Before each element of the outer array.
  void separate(std::string* out) {
    out->append(is_started_ ? "," : "{\"stats\":[");
    is_started_ = true;
  }
  void openHistograms(std::string* out) const {
    out->append("{\"histograms\":");
    switch (buckets()) {
      case Buckets::Summary:
        out->push_back('{');
        appendQuantiles(out, "supported_quantiles");
        out->append(",\"computed_quantiles\":[");
        return;
      case Buckets::Cumulative:
      case Buckets::Disjoint:
        out->push_back('[');
        return;
      case Buckets::Detailed:
        out->push_back('{');
        appendQuantiles(out, "supported_percentiles");
        out->append(",\"details\":[");
        return;
    }
  }
  void end(std::string* out) {
    if (in_histograms_) {
      const bool is_list = buckets() == Buckets::Cumulative || buckets() == Buckets::Disjoint;
      out->append(is_list ? "]}" : "]}}");
    }
    out->append(is_started_ ? "]}" : "{\"stats\":[]}");
  }
  Buckets buckets() const { return query_.buckets.value_or(Buckets::Summary); }

  const Registry& registry_;
  const Query query_;
  Walk walk_;
  // Of the row at hand.
  std::string name_;
  bool is_started_ = false;
  bool in_histograms_ = false;
};

}  // namespace

std::unique_ptr<Page> openJson(const Registry& registry, Query query) {
  return std::make_unique<JsonPage>(registry, std::move(query));
}

}  // namespace fairlead::stats
