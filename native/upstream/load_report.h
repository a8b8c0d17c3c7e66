// How much a host has to do, as it says itself, with an answer or when it is asked (ORCA:
// xds.data.orca.v3.OrcaLoadReport). Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/message.h"

namespace fairlead::upstream {

struct LoadReport {
  using Metrics = std::vector<std::pair<std::string, double>>;

  double cpu_utilization = 0;
  double mem_utilization = 0;
  double application_utilization = 0;
  double eps = 0;
  double rps_fractional = 0;
  Metrics request_cost;
  Metrics utilization;
  Metrics named_metrics;

  // Of "cpu_utilization", "named_metrics.<name>" and the like; absent: it does not say.
  std::optional<double> find(std::string_view name) const;
  // The highest of all that "<map>.*" or another name says; 0: there is none above it.
  double highestOf(const std::vector<std::string>& names) const;
  // Calls visit(name, value) for each that these names say and that it has, "<map>.*" being all of
  // a map's.
  void forEach(const std::vector<std::string>& names,
               const std::function<void(std::string_view, double)>& visit) const;
};

// Of the message itself. Absent: it is none.
std::optional<LoadReport> parseLoadReport(std::string_view message);

// Of headers or trailers: `endpoint-load-metrics` in text, JSON or base64, or
// `endpoint-load-metrics-bin`. Absent: there is none, or none that makes sense.
std::optional<LoadReport> readLoadReport(const http::HeaderMap& headers);

}  // namespace fairlead::upstream
