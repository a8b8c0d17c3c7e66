#include "stats/numbers.h"
#include "stats/query.h"
#include "stats/walk.h"

namespace fairlead::stats {

namespace {

const Distribution kNothing;

struct Shown {
  const Distribution& interval;
  const Distribution& total;
};

Shown shown(const Row& row) {
  const Distribution* interval = row.block->interval(row.index);
  const Distribution* total = row.block->total(row.index);
  return {interval ? *interval : kNothing, total ? *total : kNothing};
}

void appendSummary(std::string* out, const Shown& of) {
  bool first = true;
  for (const double q : kQuantiles) {
    out->append(first ? "P" : " P");
    first = false;
    appendSignificant(out, q * 100, 6);
    out->push_back('(');
    appendPlain(out, of.interval.quantile(q));
    out->push_back(',');
    appendPlain(out, of.total.quantile(q));
    out->push_back(')');
  }
}

void appendBuckets(std::string* out, const Shown& of, bool cumulative) {
  uint64_t interval_before = 0;
  uint64_t total_before = 0;
  bool first = true;
  for (const double bound : kBucketBounds) {
    const uint64_t interval = of.interval.atOrBelow(bound);
    const uint64_t total = of.total.atOrBelow(bound);
    out->append(first ? "B" : " B");
    first = false;
    appendSignificant(out, bound, 6);
    out->push_back('(');
    appendNumber(out, cumulative ? interval : interval - interval_before);
    out->push_back(',');
    appendNumber(out, cumulative ? total : total - total_before);
    out->push_back(')');
    interval_before = interval;
    total_before = total;
  }
}

void appendBins(std::string* out, const Distribution& of) {
  bool first = true;
  for (const Distribution::Entry& entry : of.entries()) {
    out->append(first ? "" : ", ");
    first = false;
    appendSignificant(out, lowerEdge(entry.bin), 6);
    out->push_back(',');
    appendSignificant(out, binWidth(entry.bin), 6);
    out->push_back(':');
    appendNumber(out, entry.count);
  }
}

void appendHistogram(std::string* out, const Row& row, Buckets buckets) {
  out->append(row.name).append(":");
  const Shown of = shown(row);
  if (of.total.empty()) {
    out->append(" No recorded values\n");
    return;
  }
  if (buckets == Buckets::Detailed) {
    out->append("\n  totals=");
    appendBins(out, of.total);
    out->append("\n  intervals=");
    appendBins(out, of.interval);
    out->append("\n  summary=");
    appendSummary(out, of);
  } else {
    out->push_back(' ');
    if (buckets == Buckets::Summary) {
      appendSummary(out, of);
    } else {
      appendBuckets(out, of, buckets == Buckets::Cumulative);
    }
  }
  out->push_back('\n');
}

class TextPage final : public Page {
 public:
  TextPage(const Registry& registry, Query query)
      : query_(std::move(query)), walk_(registry, query_) {}

  bool next(std::string* out) override {
    const size_t start = out->size();
    while (out->size() - start < kPieceBytes) {
      if (!in_histograms_) {
        if (!walk_.nextValues(&rows_)) {
          in_histograms_ = true;
          walk_.restart();
          continue;
        }
        for (const Row& row : rows_) {
          out->append(row.name).append(": ");
          appendNumber(out, row.value);
          out->push_back('\n');
        }
        continue;
      }
      if (!walk_.nextHistograms(&rows_)) return false;
      for (const Row& row : rows_) appendHistogram(out, row, query_.buckets);
    }
    return true;
  }

 private:
  const Query query_;
  Walk walk_;
  std::vector<Row> rows_;
  bool in_histograms_ = false;
};

}  // namespace

std::unique_ptr<Page> openText(const Registry& registry, Query query) {
  return std::make_unique<TextPage>(registry, std::move(query));
}

}  // namespace fairlead::stats
