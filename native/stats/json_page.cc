#include "base/json.h"
#include "stats/numbers.h"
#include "stats/query.h"
#include "stats/walk.h"

namespace fairlead::stats {

namespace {

const Distribution kNothing;

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
                   bool cumulative) {
  uint64_t interval_before = 0;
  uint64_t total_before = 0;
  bool first = true;
  out->push_back('[');
  for (const double bound : kBucketBounds) {
    const uint64_t in_interval = interval.atOrBelow(bound);
    const uint64_t in_total = total.atOrBelow(bound);
    out->append(first ? "{\"upper_bound\":" : ",{\"upper_bound\":");
    first = false;
    appendShortest(out, bound);
    out->append(",\"interval\":");
    appendNumber(out, cumulative ? in_interval : in_interval - interval_before);
    out->append(",\"cumulative\":");
    appendNumber(out, cumulative ? in_total : in_total - total_before);
    out->push_back('}');
    interval_before = in_interval;
    total_before = in_total;
  }
  out->push_back(']');
}

void appendBins(std::string* out, const Distribution& of) {
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

void appendHistogram(std::string* out, const Row& row, Buckets buckets) {
  const Distribution* interval = row.block->interval(row.index);
  const Distribution* total = row.block->total(row.index);
  if (!interval) interval = &kNothing;
  if (!total) total = &kNothing;
  out->append("{\"name\":");
  appendJsonString(out, row.name);
  switch (buckets) {
    case Buckets::Summary:
      out->append(",\"values\":");
      appendValues(out, *interval, *total);
      break;
    case Buckets::Cumulative:
    case Buckets::Disjoint:
      out->append(",\"buckets\":");
      appendBuckets(out, *interval, *total, buckets == Buckets::Cumulative);
      break;
    case Buckets::Detailed:
      out->append(",\"totals\":");
      appendBins(out, *total);
      out->append(",\"intervals\":");
      appendBins(out, *interval);
      out->append(",\"percentiles\":");
      appendValues(out, *interval, *total);
      break;
  }
  out->push_back('}');
}

class JsonPage final : public Page {
 public:
  JsonPage(const Registry& registry, Query query)
      : query_(std::move(query)), walk_(registry, query_) {}

  bool next(std::string* out) override {
    const size_t start = out->size();
    if (!started_) {
      started_ = true;
      out->append("{\"stats\":[");
    }
    while (out->size() - start < kPieceBytes) {
      if (!in_histograms_) {
        if (!walk_.nextValues(&rows_)) {
          in_histograms_ = true;
          walk_.restart();
          continue;
        }
        for (const Row& row : rows_) {
          out->append(first_ ? "{\"name\":" : ",{\"name\":");
          first_ = false;
          appendJsonString(out, row.name);
          out->append(",\"value\":");
          appendNumber(out, row.value);
          out->push_back('}');
        }
        continue;
      }
      if (!walk_.nextHistograms(&rows_)) {
        if (any_histogram_) closeHistograms(out);
        out->append("]}");
        return false;
      }
      for (const Row& row : rows_) {
        if (any_histogram_) {
          out->push_back(',');
        } else {
          openHistograms(out);
        }
        any_histogram_ = true;
        appendHistogram(out, row, query_.buckets);
      }
    }
    return true;
  }

 private:
  void openHistograms(std::string* out) {
    out->append(first_ ? "{\"histograms\":" : ",{\"histograms\":");
    switch (query_.buckets) {
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
  void closeHistograms(std::string* out) {
    const bool plain =
        query_.buckets == Buckets::Cumulative || query_.buckets == Buckets::Disjoint;
    out->append(plain ? "]}" : "]}}");
  }

  const Query query_;
  Walk walk_;
  std::vector<Row> rows_;
  bool started_ = false;
  bool first_ = true;
  bool in_histograms_ = false;
  bool any_histogram_ = false;
};

}  // namespace

std::unique_ptr<Page> openJson(const Registry& registry, Query query) {
  return std::make_unique<JsonPage>(registry, std::move(query));
}

}  // namespace fairlead::stats
