#include "upstream/outlier/event_log.h"

#include <cstdio>
#include <ctime>

#include "base/json.h"
#include "base/wall_clock.h"

namespace fairlead::upstream {

namespace {

using Record = OutlierMonitor::Record;
using Origin = OutlierMonitor::Origin;

std::string_view nameOf(OutlierKind kind) {
  switch (kind) {
    case OutlierKind::Consecutive5xx:
      return "CONSECUTIVE_5XX";
    case OutlierKind::ConsecutiveGatewayFailure:
      return "CONSECUTIVE_GATEWAY_FAILURE";
    case OutlierKind::SuccessRate:
      return "SUCCESS_RATE";
    case OutlierKind::ConsecutiveLocalOriginFailure:
      return "CONSECUTIVE_LOCAL_ORIGIN_FAILURE";
    case OutlierKind::SuccessRateLocalOrigin:
      return "SUCCESS_RATE_LOCAL_ORIGIN";
    case OutlierKind::FailurePercentage:
      return "FAILURE_PERCENTAGE";
    case OutlierKind::FailurePercentageLocalOrigin:
      return "FAILURE_PERCENTAGE_LOCAL_ORIGIN";
    case OutlierKind::Degraded:
      return "DEGRADED";
  }
  return {};
}

uint64_t wallMillis() { return wallClockMicros() / 1000; }

// RFC 3339, with milliseconds where there are any.
void appendTime(std::string* out, uint64_t wall_ms) {
  const auto seconds = static_cast<time_t>(wall_ms / 1000);
  tm parts;
  ::gmtime_r(&seconds, &parts);
  char text[32];
  out->append(text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts));
  if (const auto ms = static_cast<unsigned>(wall_ms % 1000)) {
    const int length = std::snprintf(text, sizeof text, ".%03u", ms);
    out->append(text, static_cast<size_t>(length));
  }
  out->push_back('Z');
}

// What all events have. `since_ms`: of the one before it of the other kind.
std::string beginLine(OutlierKind kind, std::string_view cluster, const Host& host,
                      const std::optional<uint64_t>& since_ms, std::string_view action,
                      bool is_enforced, uint64_t now_ms, uint64_t wall_ms) {
  std::string line = "{\"type\":\"";
  line.append(nameOf(kind)).append("\",\"timestamp\":\"");
  appendTime(&line, wall_ms);
  line.push_back('"');
  if (since_ms) {
    line.append(",\"secs_since_last_action\":\"" + std::to_string((now_ms - *since_ms) / 1000));
    line.push_back('"');
  }
  line.append(",\"cluster_name\":");
  appendJsonString(&line, cluster);
  line.append(",\"upstream_url\":");
  appendJsonString(&line, host.text());
  line.append(",\"action\":\"").append(action).append("\",\"num_ejections\":");
  line.append(std::to_string(host.outlier()->record().ejections));
  line.append(",\"enforced\":").append(is_enforced ? "true" : "false");
  return line;
}

// Whole percents, as the event has them.
void appendPercent(std::string* out, std::string_view name, double percent) {
  out->append("\"").append(name).append("\":");
  out->append(std::to_string(percent > 0 ? static_cast<uint32_t>(percent) : 0));
}

}  // namespace

std::string ejectionLine(std::string_view cluster, const Host& host, OutlierKind kind,
                         bool is_enforced, const SuccessRates& rates, uint64_t now_ms,
                         uint64_t wall_ms) {
  const OutlierMonitor& monitor = *host.outlier();
  std::string line = beginLine(kind, cluster, host, monitor.record().unejected_at_ms, "EJECT",
                               is_enforced, now_ms, wall_ms);
  const auto appendHostRate = [&line, &monitor](bool is_local) {
    appendPercent(&line, "host_success_rate",
                  monitor.successRate(is_local ? Origin::Local : Origin::External));
  };
  switch (kind) {
    case OutlierKind::SuccessRate:
    case OutlierKind::SuccessRateLocalOrigin:
      line.append(",\"eject_success_rate_event\":{");
      appendHostRate(kind == OutlierKind::SuccessRateLocalOrigin);
      line.push_back(',');
      appendPercent(&line, "cluster_average_success_rate", rates.average);
      line.push_back(',');
      appendPercent(&line, "cluster_success_rate_ejection_threshold", rates.ejection_threshold);
      break;
    case OutlierKind::FailurePercentage:
    case OutlierKind::FailurePercentageLocalOrigin:
      line.append(",\"eject_failure_percentage_event\":{");
      appendHostRate(kind == OutlierKind::FailurePercentageLocalOrigin);
      break;
    case OutlierKind::Consecutive5xx:
    case OutlierKind::ConsecutiveGatewayFailure:
    case OutlierKind::ConsecutiveLocalOriginFailure:
    case OutlierKind::Degraded:
      line.append(",\"eject_consecutive_event\":{");
      break;
  }
  line.append("}}");
  return line;
}

std::string unejectionLine(std::string_view cluster, const Host& host, uint64_t now_ms,
                           uint64_t wall_ms) {
  // The real server says neither why it was put out nor whether that was enforced.
  return beginLine(OutlierKind::Consecutive5xx, cluster, host,
                   host.outlier()->record().ejected_at_ms, "UNEJECT", false, now_ms, wall_ms) +
         "}";
}

void OutlierEventLog::onEjected(std::string_view cluster, const Host& host, OutlierKind kind,
                                bool is_enforced, const SuccessRates& rates, uint64_t now_ms) {
  if (!file_) return;
  write(ejectionLine(cluster, host, kind, is_enforced, rates, now_ms, wallMillis()));
}

void OutlierEventLog::onUnejected(std::string_view cluster, const Host& host, uint64_t now_ms) {
  if (file_) write(unejectionLine(cluster, host, now_ms, wallMillis()));
}

void OutlierEventLog::write(std::string_view line) {
  file_->lane(log_files::kControlThread)->append(line).push_back('\n');
  file_->lineDone(log_files::kControlThread);
  file_->flushControlThread();
}

}  // namespace fairlead::upstream
