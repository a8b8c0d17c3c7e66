// Prometheus' protobuf exposition: delimited io.prometheus.client.MetricFamily messages.
//
// A message begins with its length, which is known once all of its metrics have been measured: each
// is looked at twice, with pauses in between, and must be the same both times. So what may change
// meanwhile is held: labels as bytes, and histograms as the latest flush left them.
#include "stats/buckets.h"
#include "stats/native_buckets.h"
#include "stats/pace.h"
#include "stats/series_labels.h"
#include "stats/wire_out.h"

namespace fairlead::stats {

namespace {

using wire::appendBytes;
using wire::appendDouble;
using wire::appendInteger;
using wire::appendLength;
using wire::appendSigned;

// Field numbers of MetricFamily and Metric.
constexpr uint32_t kName = 1;
constexpr uint32_t kType = 3;
constexpr uint32_t kMetric = 4;
constexpr uint32_t kLabel = 1;
constexpr uint32_t kGauge = 2;
constexpr uint32_t kCounter = 3;
constexpr uint32_t kSummary = 4;
constexpr uint32_t kHistogram = 7;

// With its tag, of one byte.
constexpr size_t kDoubleSize = 9;

// A tag of one byte, a length, and what it is the length of.
constexpr size_t bytesSize(size_t length) { return 1 + varintBytes(length) + length; }

// Values are escaped, as if they were text: so the real server has them.
void appendLabelPair(std::string* out, std::string_view name, std::string_view value) {
  std::string escaped;
  if (value.find_first_of("\\\"\n") != std::string_view::npos) {
    appendEscaped(&escaped, value);
    value = escaped;
  }
  appendLength(out, kLabel, bytesSize(name.size()) + bytesSize(value.size()));
  appendLength(out, 1, name.size());
  appendMetricName(out, name);
  appendBytes(out, 2, value);
}

// The NaN that the real server has where there is no quantile.
constexpr double kNoQuantile = std::bit_cast<double>(UINT64_C(0x7fffffffffffffff));

void appendSummary(std::string* out, const Distribution& interval) {
  appendInteger(out, 1, interval.count());
  appendDouble(out, 2, interval.sum());
  for (const double quantile : kQuantiles) {
    appendLength(out, 3, 2 * kDoubleSize);
    appendDouble(out, 1, quantile);
    appendDouble(out, 2, interval.empty() ? kNoQuantile : interval.quantile(quantile));
  }
}

// Without the bucket that has no bound.
void appendBuckets(std::string* out, const Distribution& total, std::span<const double> bounds) {
  appendInteger(out, 1, total.count());
  appendDouble(out, 2, total.sum());
  const std::vector<uint64_t> counts = total.atOrBelow(bounds);
  for (size_t i = 0; i < counts.size(); ++i) {
    appendLength(out, 3, 1 + varintBytes(counts[i]) + kDoubleSize);
    appendInteger(out, 1, counts[i]);
    appendDouble(out, 2, bounds[i]);
  }
}

void appendSpan(std::string* out, int32_t offset, uint64_t length) {
  std::string span;
  appendSigned(&span, 1, offset);
  appendInteger(&span, 2, length);
  appendBytes(out, 12, span);
}

// Runs of buckets without a gap, each after how many were left out before it.
void appendSpans(std::string* out, const std::vector<NativeBuckets::Bucket>& buckets) {
  int32_t end = 0;
  for (size_t i = 0; i < buckets.size();) {
    const int32_t first = buckets[i].index;
    uint64_t length = 0;
    while (i < buckets.size() && buckets[i].index == first + static_cast<int32_t>(length)) {
      ++length;
      ++i;
    }
    appendSpan(out, first - end, length);
    end = first + static_cast<int32_t>(length);
  }
}

void appendNative(std::string* out, const Distribution& total, const NativeBuckets& buckets) {
  appendInteger(out, 1, total.count());
  appendDouble(out, 2, total.sum());
  appendSigned(out, 5, buckets.schema());
  appendDouble(out, 6, NativeBuckets::kZeroThreshold);
  appendInteger(out, 7, buckets.zeros());
  appendSpans(out, buckets.buckets());
  int64_t before = 0;
  for (const auto& [index, count] : buckets.buckets()) {
    appendSigned(out, 13, static_cast<int64_t>(count) - before);
    before = static_cast<int64_t>(count);
  }
}

// By its span without buckets a reader knows that the histogram is a native one.
void appendEmptyNative(std::string* out) {
  constexpr int kSchema = 3;
  appendSigned(out, 5, kSchema);
  appendInteger(out, 7, 0);
  appendSpan(out, 0, 0);
}

class MetricFamiliesPage final : public Page {
 public:
  MetricFamiliesPage(const Registry& registry, Query query)
      : registry_(registry), query_(std::move(query)), walk_(openMetrics(registry, query_)) {}

  bool next(std::string* out) override {
    const size_t start = out->size();
    Pace pace;
    while (out->size() - start < kPieceBytes) {
      switch (phase_) {
        case Phase::Search: {
          const Step step = walk_->next(&pace.budget);
          if (step == Step::End) return false;
          if (step == Step::Item) begin();
          if (step == Step::Pause && !pace.goOn()) return true;
          break;
        }
        case Phase::Measure:
          if (measureAll(&pace.budget)) {
            writeHead(out);
          } else if (!pace.goOn()) {
            return true;
          }
          break;
        case Phase::Write:
          write(out);
          break;
      }
    }
    return true;
  }

 private:
  // Where it is with a family.
  enum class Phase : uint8_t { Search, Measure, Write };
  // A metric of the family at hand.
  struct Measured {
    // Its labels end here in labels_; they begin where those before end.
    size_t labels_end;
    // Of its message, without tag and length.
    size_t size;
  };
  // Of a counter's or a gauge's value: a message of one double.
  static constexpr size_t kNumberSize = bytesSize(kDoubleSize);

  void begin() {
    phase_ = Phase::Measure;
    written_ = 0;
    metrics_size_ = 0;
    measured_.clear();
    labels_.clear();
    held_.clear();
  }

  // False: the budget is used up before the last.
  bool measureAll(size_t* budget) {
    const std::vector<Series>& series = walk_->series();
    while (measured_.size() < series.size()) {
      if (*budget == 0) return false;
      *budget -= std::min(*budget, measure(series[measured_.size()]));
    }
    return true;
  }

  // What it costs, as the budget has it.
  size_t measure(const Series& series) {
    constexpr size_t kHistogramCost = 10;
    const bool is_histogram = walk_->kind() == Kind::Histogram;
    const size_t start = labels_.size();
    forEachLabel(registry_, walk_->kind(), series,
                 [this](auto name, auto value) { appendLabelPair(&labels_, name, value); });
    size_t size = labels_.size() - start + kNumberSize;
    if (is_histogram) {
      held_.push_back(isSummary() ? series.block->heldInterval(series.member.index)
                                  : series.block->heldTotal(series.member.index));
      size += bytesSize(histogramOf(series, held_.back().get()).size()) - kNumberSize;
    }
    measured_.push_back({labels_.size(), size});
    metrics_size_ += bytesSize(size);
    return is_histogram ? kHistogramCost : 1;
  }

  void writeHead(std::string* out) {
    name_ = "envoy_";
    appendMetricName(&name_, walk_->name());
    constexpr size_t kTypeSize = 2;
    appendVarint(out, bytesSize(name_.size()) + kTypeSize + metrics_size_);
    appendBytes(out, kName, name_);
    appendInteger(out, kType, type());
    phase_ = Phase::Write;
  }

  // The next metric.
  void write(std::string* out) {
    const size_t labels_begin = written_ == 0 ? 0 : measured_[written_ - 1].labels_end;
    const auto [labels_end, size] = measured_[written_];
    const Series& series = walk_->series()[written_];
    appendLength(out, kMetric, size);
    out->append(labels_, labels_begin, labels_end - labels_begin);
    if (walk_->kind() == Kind::Histogram) {
      appendBytes(out, isSummary() ? kSummary : kHistogram,
                  histogramOf(series, held_[written_].get()));
    } else {
      appendLength(out, walk_->kind() == Kind::Counter ? kCounter : kGauge, kDoubleSize);
      appendDouble(out, 1, static_cast<double>(series.value));
    }
    if (++written_ == measured_.size()) phase_ = Phase::Search;
  }

  // Until the next call.
  const std::string& histogramOf(const Series& series, const Distribution* held) {
    static const Distribution kNothing;
    const Distribution& of = held ? *held : kNothing;
    histogram_.clear();
    if (isSummary()) {
      appendSummary(&histogram_, of);
    } else if (!query_.native_buckets) {
      name_.assign(series.block->scope().prefix).append(series.name);
      appendBuckets(&histogram_, of, registry_.bucketBounds(name_));
    } else if (of.empty()) {
      appendEmptyNative(&histogram_);
    } else {
      native_.fill(of, *query_.native_buckets);
      appendNative(&histogram_, of, native_);
    }
    return histogram_;
  }

  bool isSummary() const { return query_.buckets == Buckets::Summary; }

  // io.prometheus.client.MetricType
  uint64_t type() const {
    constexpr uint64_t kCounterType = 0;
    constexpr uint64_t kGaugeType = 1;
    constexpr uint64_t kSummaryType = 2;
    constexpr uint64_t kHistogramType = 4;
    switch (walk_->kind()) {
      case Kind::Counter:
        return kCounterType;
      case Kind::Gauge:
      case Kind::Text:
        return kGaugeType;
      case Kind::Histogram:
        return isSummary() ? kSummaryType : kHistogramType;
    }
    return kGaugeType;
  }

  const Registry& registry_;
  const Query query_;
  const std::unique_ptr<MetricWalk> walk_;

  // ---- of the family at hand ----
  Phase phase_ = Phase::Search;
  std::vector<Measured> measured_;
  size_t metrics_size_ = 0;
  size_t written_ = 0;
  std::string labels_;
  // Of histograms, by metric.
  std::vector<std::shared_ptr<const Distribution>> held_;

  // ---- scratch ----
  std::string name_;
  std::string histogram_;
  NativeBuckets native_;
};

}  // namespace

std::unique_ptr<Page> openMetricFamilies(const Registry& registry, Query query) {
  return std::make_unique<MetricFamiliesPage>(registry, std::move(query));
}

}  // namespace fairlead::stats
