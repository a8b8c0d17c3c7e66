// What a reader of statistics asks for, and the answer in pieces.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stats/registry.h"

namespace fairlead::stats {

// How histograms are shown.
enum class Buckets : uint8_t { Summary, Cumulative, Disjoint, Detailed };

struct Query {
  bool counters = true;
  bool gauges = true;
  bool histograms = true;
  // Only what was ever written.
  bool used_only = false;
  Buckets buckets = Buckets::Summary;
  // Which full names are shown; empty: all.
  std::function<bool(std::string_view)> filter;
  // Prometheus: labels that every series has.
  std::vector<std::pair<std::string, std::string>> fixed_labels;
};

// A long answer. The control thread's.
class Page {
 public:
  // A piece is handed out once it is this long.
  static constexpr size_t kPieceBytes = 64 * 1024;
  virtual ~Page() = default;
  // Appends the next piece. False: the answer is complete.
  virtual bool next(std::string* out) = 0;
};

std::unique_ptr<Page> openText(const Registry& registry, Query query);
std::unique_ptr<Page> openJson(const Registry& registry, Query query);
std::unique_ptr<Page> openPrometheus(const Registry& registry, Query query);

}  // namespace fairlead::stats
