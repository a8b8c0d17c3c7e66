#include "stats/sink_format.h"

#include "stats/numbers.h"
#include "stats/wire_out.h"

namespace fairlead::stats {

namespace {

using wire::appendBytes;
using wire::appendDouble;
using wire::appendInteger;

// io.prometheus.client.MetricType
enum class MetricType : uint8_t { Counter = 0, Gauge = 1, Summary = 2, Histogram = 4 };

void appendLine(const SinkFormat& format, const SinkName& name, std::string_view value,
                std::string_view type, std::string* out) {
  out->append(format.prefix).append(".").append(name.name);
  if (format.kind == SinkFormat::Kind::Graphite) {
    for (const auto& [label, text] : name.labels) {
      out->append(";").append(label).append("=").append(text);
    }
  }
  out->append(":").append(value).append(type);
  if (format.kind == SinkFormat::Kind::DogStatsd && !name.labels.empty()) {
    out->append("|#");
    bool first = true;
    for (const auto& [label, text] : name.labels) {
      out->append(first ? "" : ",").append(label).append(":").append(text);
      first = false;
    }
  }
  out->push_back('\n');
}

// A MetricFamily of one Metric, whose value is the message `value` in the field `value_field`.
void appendFamily(const SinkFormat& format, const SinkName& name, MetricType type,
                  uint32_t value_field, std::string_view value, int64_t now_ms, std::string* out) {
  std::string metric;
  if (format.labels) {
    for (const auto& [label, text] : name.labels) {
      std::string pair;
      appendBytes(&pair, 1, label);
      appendBytes(&pair, 2, text);
      appendBytes(&metric, 1, pair);
    }
  }
  // Fields in the order of their numbers: the time is 6.
  constexpr uint32_t kTime = 6;
  if (value_field < kTime) appendBytes(&metric, value_field, value);
  appendInteger(&metric, kTime, static_cast<uint64_t>(now_ms));
  if (value_field > kTime) appendBytes(&metric, value_field, value);
  std::string family;
  appendBytes(&family, 1, name.name);
  appendInteger(&family, 3, static_cast<uint64_t>(type));
  appendBytes(&family, 4, metric);
  constexpr uint32_t kEnvoyMetrics = 2;
  appendBytes(out, kEnvoyMetrics, family);
}

void appendValue(const SinkFormat& format, const SinkName& name, MetricType type, uint64_t value,
                 int64_t now_ms, std::string* out) {
  std::string message;
  appendDouble(&message, 1, static_cast<double>(value));
  const uint32_t field = type == MetricType::Counter ? 3 : 2;
  appendFamily(format, name, type, field, message, now_ms, out);
}

std::string summaryOf(const Distribution& interval) {
  std::string message;
  appendInteger(&message, 1, interval.count());
  appendDouble(&message, 2, interval.sum());
  for (const double q : kQuantiles) {
    std::string quantile;
    appendDouble(&quantile, 1, q);
    appendDouble(&quantile, 2, interval.quantile(q));
    appendBytes(&message, 3, quantile);
  }
  return message;
}

std::string histogramOf(const Distribution& interval, std::span<const double> bounds) {
  std::string message;
  appendInteger(&message, 1, interval.count());
  appendDouble(&message, 2, interval.sum());
  const std::vector<uint64_t> counts = interval.atOrBelow(bounds);
  for (size_t i = 0; i < bounds.size(); ++i) {
    std::string bucket;
    appendInteger(&bucket, 1, counts[i]);
    appendDouble(&bucket, 2, bounds[i]);
    appendBytes(&message, 3, bucket);
  }
  return message;
}

}  // namespace

void appendCounter(const SinkFormat& format, const SinkName& name, uint64_t value, uint64_t delta,
                   int64_t now_ms, std::string* out) {
  if (format.kind == SinkFormat::Kind::Metrics) {
    const uint64_t shown = format.deltas ? delta : value;
    appendValue(format, name, MetricType::Counter, shown, now_ms, out);
  } else {
    appendLine(format, name, std::to_string(delta), "|c", out);
  }
}

void appendGauge(const SinkFormat& format, const SinkName& name, uint64_t value, int64_t now_ms,
                 std::string* out) {
  if (format.kind == SinkFormat::Kind::Metrics) {
    appendValue(format, name, MetricType::Gauge, value, now_ms, out);
  } else {
    appendLine(format, name, std::to_string(value), "|g", out);
  }
}

void appendSample(const SinkFormat& format, const SinkName& name, uint64_t value, bool is_percent,
                  std::string* out) {
  if (!is_percent) {
    appendLine(format, name, std::to_string(value), "|ms", out);
    return;
  }
  std::string share;
  constexpr double kPercent = 100;
  appendSignificant(&share, static_cast<double>(value) / kPercent, 6);
  appendLine(format, name, share, "|h", out);
}

void appendHistogram(const SinkFormat& format, const SinkName& name, const Distribution& interval,
                     std::span<const double> bounds, int64_t now_ms, std::string* out) {
  if (format.summaries) {
    appendFamily(format, name, MetricType::Summary, 4, summaryOf(interval), now_ms, out);
  }
  if (format.histograms) {
    appendFamily(format, name, MetricType::Histogram, 7, histogramOf(interval, bounds), now_ms,
                 out);
  }
}

}  // namespace fairlead::stats
