// What a reader of statistics asks for, and the answer in pieces.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stats/registry.h"

namespace fairlead::stats {

// How histograms are shown. Prometheus knows the first two.
enum class Buckets : uint8_t { Summary, Cumulative, Disjoint, Detailed };

struct Query {
  // Text and JSON; Prometheus' page always has the first, second and last.
  bool counters = true;
  bool gauges = true;
  bool texts = true;
  bool histograms = true;
  // Only what was ever written.
  bool used_only = false;
  // Only hidden statistics: there are none.
  bool hidden_only = false;
  // Absent: summaries, for Prometheus cumulative.
  std::optional<Buckets> buckets;
  // Prometheus in protobuf: native histograms of at most so many buckets, where the coarsest ones
  // have no more. Absent: none are native.
  std::optional<uint32_t> native_buckets;
  // Which full names are shown, or not shown; empty: all.
  NameTest filter;
  // Whether names that begin so may be shown, so that whole scopes need not be looked at; empty:
  // they may.
  NameTest may_begin;
  bool invert_filter = false;
  // Prometheus: texts as gauges with a label.
  bool text_readouts = false;

  bool wants(std::string_view name) const { return !filter || filter(name) != invert_filter; }
};

// A long answer. The control thread's.
class Page {
 public:
  // A piece ends once it is this long.
  static constexpr size_t kPieceBytes = 32 * 1024;
  virtual ~Page() = default;
  // Appends the next piece, which may be empty. False: the answer is complete.
  virtual bool next(std::string* out) = 0;
};

// The registry must live longer than the page.
std::unique_ptr<Page> openText(const Registry& registry, Query query);
std::unique_ptr<Page> openJson(const Registry& registry, Query query);
std::unique_ptr<Page> openPrometheus(const Registry& registry, Query query);
// The same as messages io.prometheus.client.MetricFamily, each after its length.
std::unique_ptr<Page> openMetricFamilies(const Registry& registry, Query query);

}  // namespace fairlead::stats
