#include "upstream/outlier/monitor.h"

#include "upstream/host.h"

namespace fairlead::upstream {

namespace {

bool isGatewayError(uint16_t status) { return status >= 502 && status <= 504; }

// Where connections and answers count together.
uint16_t statusOf(OutlierResult result) {
  switch (result) {
    case OutlierResult::Connected:
    case OutlierResult::ConnectedFinally:
    case OutlierResult::Answer:
      break;
    case OutlierResult::ConnectFailed:
      return 503;
    case OutlierResult::Timeout:
      return 504;
  }
  return 200;
}

}  // namespace

void OutlierMonitor::put(HostCounters& counters, OutlierResult result, uint16_t status) {
  if (result == OutlierResult::Answer) {
    putStatus(counters, status);
  } else if (watch_->settings.splits_local_origin) {
    putLocal(counters,
             result == OutlierResult::Connected || result == OutlierResult::ConnectedFinally);
  } else if (result != OutlierResult::Connected) {
    putStatus(counters, status == kNoStatus ? statusOf(result) : status);
  }
}

void OutlierMonitor::putStatus(HostCounters& counters, uint16_t status) {
  counters.results.add();
  if (status < 500 || status > 599) {
    counters.good_results.add();
    endRow(consecutive_5xx_);
    endRow(consecutive_gateway_failure_);
    return;
  }
  const OutlierSettings& settings = watch_->settings;
  if (isGatewayError(status)) {
    countFailure(consecutive_gateway_failure_, settings.consecutive_gateway_failure,
                 OutlierKind::ConsecutiveGatewayFailure);
  } else {
    endRow(consecutive_gateway_failure_);
  }
  countFailure(consecutive_5xx_, settings.consecutive_5xx, OutlierKind::Consecutive5xx);
}

void OutlierMonitor::putLocal(HostCounters& counters, bool is_good) {
  counters.local_results.add();
  if (is_good) {
    counters.good_local_results.add();
    endRow(consecutive_local_origin_failure_);
    return;
  }
  countFailure(consecutive_local_origin_failure_, watch_->settings.consecutive_local_origin_failure,
               OutlierKind::ConsecutiveLocalOriginFailure);
}

// Told once for each row, by whoever has its last failure.
void OutlierMonitor::countFailure(Consecutive& consecutive, const RuntimeNumber& limit,
                                  OutlierKind kind) {
  if (consecutive.fetch_add(1, std::memory_order_relaxed) + 1 != limit.value()) return;
  watch_->reports->put({host_.weak_from_this(), kind});
}

void OutlierMonitor::onDegraded() {
  if (!watch_->settings.detects_degraded) return;
  if (host_.health().has(HealthFlag::DegradedOutlier)) return;
  watch_->reports->put({host_.weak_from_this(), OutlierKind::Degraded});
}

void OutlierMonitor::onCheckPassed() {
  if (!watch_->settings.ends_with_health_check) return;
  if (!host_.health().has(HealthFlag::FailedOutlier)) return;
  watch_->reports->put({host_.weak_from_this(), kCheckPassed});
}

void OutlierMonitor::resetConsecutive(OutlierKind kind) {
  if (kind == OutlierKind::Consecutive5xx) consecutive_5xx_ = 0;
  if (kind == OutlierKind::ConsecutiveGatewayFailure) consecutive_gateway_failure_ = 0;
  if (kind == OutlierKind::ConsecutiveLocalOriginFailure) consecutive_local_origin_failure_ = 0;
}

void OutlierMonitor::resetConsecutive() {
  consecutive_5xx_ = 0;
  consecutive_gateway_failure_ = 0;
  consecutive_local_origin_failure_ = 0;
}

}  // namespace fairlead::upstream
