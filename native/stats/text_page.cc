#include "stats/buckets.h"
#include "stats/numbers.h"
#include "stats/pace.h"
#include "stats/query.h"
#include "stats/walk.h"

namespace fairlead::stats {

namespace {

struct Spans {
  const Distribution& interval;
  const Distribution& total;
};

void appendSummary(std::string* out, const Spans& of) {
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

void appendBuckets(std::string* out, const Spans& of, std::span<const double> bounds,
                   Buckets buckets) {
  const std::vector<uint64_t> interval = bucketCounts(of.interval, bounds, buckets);
  const std::vector<uint64_t> total = bucketCounts(of.total, bounds, buckets);
  for (size_t i = 0; i < bounds.size(); ++i) {
    out->append(i == 0 ? "B" : " B");
    appendSignificant(out, bounds[i], 6);
    out->push_back('(');
    appendNumber(out, interval[i]);
    out->push_back(',');
    appendNumber(out, total[i]);
    out->push_back(')');
  }
}

void appendBins(std::string* out, const Distribution& of) {
  bool first = true;
  for (const Distribution::Entry& entry : of.entries()) {
    out->append(first ? "" : ", ");
    first = false;
    appendPlain(out, lowerEdge(entry.bin));
    out->push_back(',');
    appendPlain(out, binWidth(entry.bin));
    out->push_back(':');
    appendNumber(out, entry.count);
  }
}

class TextPage final : public Page {
 public:
  TextPage(const Registry& registry, Query query)
      : registry_(registry), query_(std::move(query)), walk_(registry, query_) {}

  bool next(std::string* out) override {
    const size_t start = out->size();
    Pace pace;
    while (out->size() - start < kPieceBytes) {
      std::string_view prefix;
      const Row* row = nullptr;
      const Step step = walk_.next(&prefix, &row, &pace.budget);
      if (step == Step::End) return false;
      if (step == Step::Pause) {
        if (!pace.goOn()) return true;
        continue;
      }
      const size_t name_at = out->size();
      out->append(prefix).append(row->name).append(":");
      if (row->kind == Kind::Histogram) {
        appendHistogram(out, name_at, *row);
      } else if (row->kind == Kind::Text) {
        out->append(" \"").append(row->block->text(row->index)).append("\"\n");
      } else {
        out->push_back(' ');
        appendNumber(out, row->value);
        out->push_back('\n');
      }
    }
    return true;
  }

 private:
  // The name and its colon are at `name_at`.
  void appendHistogram(std::string* out, size_t name_at, const Row& row) const {
    const Spans of = {row.block->interval(row.index), row.block->total(row.index)};
    if (of.total.empty()) {
      out->append(" No recorded values\n");
      return;
    }
    const Buckets buckets = query_.buckets.value_or(Buckets::Summary);
    switch (buckets) {
      case Buckets::Summary:
        out->push_back(' ');
        appendSummary(out, of);
        break;
      case Buckets::Cumulative:
      case Buckets::Disjoint: {
        const std::string name = out->substr(name_at, out->size() - name_at - 1);
        out->push_back(' ');
        appendBuckets(out, of, registry_.bucketBounds(name), buckets);
        break;
      }
      case Buckets::Detailed:
        out->append("\n  totals=");
        appendBins(out, of.total);
        out->append("\n  intervals=");
        appendBins(out, of.interval);
        out->append("\n  summary=");
        appendSummary(out, of);
        break;
    }
    out->push_back('\n');
  }

  const Registry& registry_;
  const Query query_;
  Walk walk_;
};

}  // namespace

std::unique_ptr<Page> openText(const Registry& registry, Query query) {
  return std::make_unique<TextPage>(registry, std::move(query));
}

}  // namespace fairlead::stats
