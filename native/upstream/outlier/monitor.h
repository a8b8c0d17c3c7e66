// What becomes of requests to one host. Workers put results in; failures in a row are counted
// across all of them, in the order in which they come, and how many results there were is counted
// by each worker for itself (HostCounters). A success writes nothing that others read unless it
// ends a row of failures.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "upstream/outlier/reports.h"
#include "upstream/outlier/settings.h"

namespace fairlead::upstream {

struct HostCounters;
class OutlierDetector;

// What all hosts of a cluster have in common.
struct OutlierWatch {
  const OutlierSettings settings;
  const std::shared_ptr<OutlierReports> reports;
  // The control thread's; null: it is over.
  OutlierDetector* detector = nullptr;
};

enum class OutlierResult : uint8_t {
  // A request has a connection; what becomes of it is told later.
  Connected,
  // A connection is there, and nothing more is told of it.
  ConnectedFinally,
  // There is no connection, or none any more.
  ConnectFailed,
  Timeout,
  // An answer, with its status.
  Answer,
};

class OutlierMonitor {
 public:
  // Of what is answered where there is no status.
  static constexpr uint16_t kNoStatus = 0;

  OutlierMonitor(std::shared_ptr<OutlierWatch> watch, Host& host)
      : watch_(std::move(watch)), host_(host) {}

  const std::shared_ptr<OutlierWatch>& watch() const { return watch_; }

  // ---- workers ----
  // `counters`: this worker's. `status`: of an answer; of a timeout, what the client is told.
  void put(HostCounters& counters, OutlierResult result, uint16_t status = kNoStatus);
  // Its answer says so (x-envoy-degraded).
  void onDegraded();
  // An active health check has found it well, which may bring it back. Any thread.
  void onCheckPassed();

  // ---- the control thread ----
  void resetConsecutive(OutlierKind kind);
  void resetConsecutive();

  // Of requests that hosts answered, and of connections to them.
  enum class Origin : uint8_t { External, Local };
  struct Volume {
    uint64_t total = 0;
    uint64_t good = 0;
  };
  // The control thread's, for the detector: what it knows of the host.
  struct Record {
    uint64_t ejections = 0;
    std::optional<uint64_t> ejected_at_ms;
    std::optional<uint64_t> unejected_at_ms;
    // How often longer than the base time it is put out.
    uint64_t backoff = 0;
    uint64_t jitter_ms = 0;
    std::optional<uint64_t> degraded_at_ms;
    std::optional<uint64_t> undegraded_at_ms;
    uint64_t degraded_backoff = 0;
    // By origin: until the latest interval, in it, and the percentage; −1: too few.
    Volume until[2];
    Volume latest[2];
    double success_rate[2] = {-1, -1};
  };
  Record& record() { return record_; }
  const Record& record() const { return record_; }
  double successRate(Origin origin) const {
    return record_.success_rate[static_cast<size_t>(origin)];
  }

 private:
  using Consecutive = std::atomic<uint32_t>;

  void putStatus(HostCounters& counters, uint16_t status);
  void putLocal(HostCounters& counters, bool is_good);
  void countFailure(Consecutive& consecutive, const RuntimeNumber& limit, OutlierKind kind);
  static void endRow(Consecutive& consecutive) {
    if (consecutive.load(std::memory_order_relaxed) != 0) {
      consecutive.store(0, std::memory_order_relaxed);
    }
  }

  const std::shared_ptr<OutlierWatch> watch_;
  Host& host_;
  Consecutive consecutive_5xx_{0};
  Consecutive consecutive_gateway_failure_{0};
  Consecutive consecutive_local_origin_failure_{0};
  // The control thread's.
  Record record_;
};

}  // namespace fairlead::upstream
