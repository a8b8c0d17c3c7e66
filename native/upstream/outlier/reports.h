// The way of what workers find striking about hosts to the control thread, which decides what
// becomes of them. Rare: a worker comes here with the last of so many failures in a row, never with
// others.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace fairlead::upstream {

class Host;

// As the events of the real server are numbered (data.cluster.v3.OutlierEjectionType).
enum class OutlierKind : uint8_t {
  Consecutive5xx,
  ConsecutiveGatewayFailure,
  SuccessRate,
  ConsecutiveLocalOriginFailure,
  SuccessRateLocalOrigin,
  FailurePercentage,
  FailurePercentageLocalOrigin,
  // It is not put out, and gets less.
  Degraded,
};
// A report of another kind: an active health check has found the host well.
constexpr OutlierKind kCheckPassed{UINT8_MAX};

struct OutlierReport {
  // It may be gone.
  std::weak_ptr<Host> host;
  OutlierKind kind;
};

class OutlierReports {
 public:
  // `wake`: has the control thread take what there is, soon; called on any thread. May be empty.
  explicit OutlierReports(std::function<void()> wake) : wake_(std::move(wake)) {}

  // Any thread.
  void put(OutlierReport report) {
    bool is_first = false;
    {
      const std::lock_guard lock(mutex_);
      is_first = reports_.empty();
      reports_.push_back(std::move(report));
    }
    if (is_first && wake_) wake_();
  }
  // The control thread.
  std::vector<OutlierReport> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(reports_, {});
  }

 private:
  const std::function<void()> wake_;
  Mutex mutex_;
  // Guarded by mutex_.
  std::vector<OutlierReport> reports_;
};

}  // namespace fairlead::upstream
