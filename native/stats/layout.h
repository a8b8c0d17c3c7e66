// What the readers know of a kind of scope: tables that the catalogue is made into. Constant.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace fairlead::stats {

// In the order in which Prometheus' page has them.
enum class Kind : uint8_t { Counter, Gauge, Text, Histogram };

// When a name is shown, used or not.
enum class Shown : uint8_t {
  Always,
  // After its first value.
  OnceUsed,
  // After the first value of another counter of its scope.
  With,
};

struct StatName {
  std::string_view name;
  Shown shown;
  // The other counter, for Shown::With.
  uint16_t companion;
};

// Of a sorted table.
inline std::optional<size_t> indexOf(std::span<const StatName> names, std::string_view name) {
  const auto stat = std::lower_bound(
      names.begin(), names.end(), name,
      [](const StatName& stat, std::string_view wanted) { return stat.name < wanted; });
  if (stat == names.end() || stat->name != name) return std::nullopt;
  return static_cast<size_t>(stat - names.begin());
}

struct StatRef {
  Kind kind;
  uint16_t index;
};

// Where a shard has a counter's slot, or a gauge's two: what went up, then what went down.
struct Place {
  uint8_t group;
  uint8_t slot;
};
constexpr size_t kUp = 0;
constexpr size_t kDown = 1;

// All tables are sorted by name, byte by byte.
struct Layout {
  std::span<const StatName> counters;
  std::span<const StatName> gauges;
  std::span<const StatName> texts;
  std::span<const StatName> histograms;
  // Counters and gauges together.
  std::span<const StatRef> values;
  // By counter, and by gauge.
  std::span<const Place> counter_places;
  std::span<const Place> gauge_places;
  // How many slots each group has. A shard makes them when one of them is first written: few scopes
  // use more than a few groups.
  std::span<const uint8_t> groups;
  // Whether the scope counts answers by status, and whether `upstream_rq_completed` is one of its
  // counters, written apart, rather than the sum of all that are counted.
  bool has_codes;
  bool has_completed;
  // Whether nothing is shown before a counter or gauge of the first group was written.
  bool is_late;

  std::span<const StatName> names(Kind kind) const {
    switch (kind) {
      case Kind::Counter:
        return counters;
      case Kind::Gauge:
        return gauges;
      case Kind::Text:
        return texts;
      case Kind::Histogram:
        return histograms;
    }
    return {};
  }
  const StatName& name(StatRef stat) const { return names(stat.kind)[stat.index]; }
};

}  // namespace fairlead::stats
