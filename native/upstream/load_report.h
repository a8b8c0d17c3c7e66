// How much a host has to do, as it says itself with an answer (ORCA:
// xds.data.orca.v3.OrcaLoadReport). Pure.
#pragma once

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
};

// Of headers or trailers: `endpoint-load-metrics` in text, JSON or base64, or
// `endpoint-load-metrics-bin`. Absent: there is none, or none that makes sense.
std::optional<LoadReport> readLoadReport(const http::HeaderMap& headers);

}  // namespace fairlead::upstream
