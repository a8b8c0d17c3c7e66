// One statistic as a sink wants it. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stats/block.h"

namespace fairlead::stats {

struct SinkFormat {
  enum class Kind : uint8_t {
    // Lines: "prefix.name:1|c".
    Statsd,
    // The same with tags: "prefix.name:1|c|#tag:value".
    DogStatsd,
    // The `envoy_metrics` of a StreamMetricsMessage.
    Metrics,
    // Lines with tags in their names: "prefix.name;tag=value:1|c".
    Graphite,
  };
  Kind kind = Kind::Statsd;
  std::string prefix;
  // Of Metrics: counters since the previous flush, instead of since the start; tags as labels.
  bool deltas = false;
  bool labels = false;
  // Labels beside names that are whole; histograms since the start.
  bool whole_names = false;
  bool totals = false;
  bool summaries = false;
  bool histograms = false;

  bool wantsTags() const { return kind == Kind::DogStatsd || kind == Kind::Graphite || labels; }
  // Single values, instead of merged histograms.
  bool wantsSamples() const { return kind != Kind::Metrics; }
};

// What a statistic is called: in full, or without its tags, and they.
struct SinkName {
  std::string_view name;
  std::span<const Label> labels;
};

void appendCounter(const SinkFormat& format, const SinkName& name, uint64_t value, uint64_t delta,
                   int64_t now_ms, std::string* out);
void appendGauge(const SinkFormat& format, const SinkName& name, uint64_t value, int64_t now_ms,
                 std::string* out);
// A single value. `is_percent`: it is shown as a share.
void appendSample(const SinkFormat& format, const SinkName& name, uint64_t value, bool is_percent,
                  std::string* out);
// Summary, histogram, or both, of the interval.
void appendHistogram(const SinkFormat& format, const SinkName& name, const Distribution& interval,
                     std::span<const double> bounds, int64_t now_ms, std::string* out);

}  // namespace fairlead::stats
