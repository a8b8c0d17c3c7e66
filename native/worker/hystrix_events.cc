#include "worker/hystrix_events.h"

#include <cstdio>
#include <utility>

#include "base/json.h"
#include "stats/numbers.h"

namespace fairlead::worker {

namespace {

using stats::CodeName;
using stats::CodeVariant;
using ClusterCounter = stats::Cluster::Counter;

// Quantiles that a dashboard gets, in the order in which the real server writes them.
constexpr double kLatencyQuantiles[] = {1, 0.99, 0.5, 0, 0.25, 0.9, 0.95, 0.75, 0.995};

// What counts as an error or a success: the real server makes these counters of every cluster.
constexpr CodeName kSuccess = CodeName::family(CodeVariant::All, 2);
constexpr CodeName kErrors[] = {
    CodeName::family(CodeVariant::Retry, 4), CodeName::family(CodeVariant::Retry, 5),
    CodeName::family(CodeVariant::All, 4), CodeName::family(CodeVariant::All, 5)};

// One event: "data: {"key": value, …}" with a blank after each colon and comma.
class Event {
 public:
  explicit Event(std::string* out) : out_(*out) { out_.append("data: {"); }
  ~Event() { out_.append("}\n\n"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void number(std::string_view key, uint64_t value) { stats::appendNumber(&this->key(key), value); }
  void text(std::string_view key, std::string_view value) {
    appendJsonString(&this->key(key), value);
  }
  void literal(std::string_view key, std::string_view value) { this->key(key).append(value); }
  void zeros(std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) number(key, 0);
  }

 private:
  std::string& key(std::string_view name) {
    out_.append(is_first_ ? "\"" : ", \"").append(name).append("\": ");
    is_first_ = false;
    return out_;
  }

  std::string& out_;
  bool is_first_ = true;
};

std::string latencyOf(const stats::Distribution& interval) {
  std::string text = "{";
  for (const double q : kLatencyQuantiles) {
    if (interval.empty()) break;
    char value[400];
    std::snprintf(value, sizeof(value), "%f", interval.quantile(q));
    text.append(text.size() > 1 ? ", \"" : "\"");
    stats::appendSignificant(&text, q * 100, 6);
    text.append("\": ").append(value);
  }
  return text + "}";
}

}  // namespace

// Walks a snapshot of the clusters.
class HystrixEvents::EventPage final : public stats::Page {
 public:
  EventPage(HystrixEvents& events, int64_t now_seconds)
      : events_(events), now_seconds_(now_seconds) {
    for (const auto& [name, cluster] : events.data_plane_.clusters()) {
      clusters_.emplace_back(name, cluster);
    }
  }

  bool next(std::string* out) override {
    const size_t start = out->size();
    while (at_ < clusters_.size() && out->size() - start < kPieceBytes) {
      const auto& [name, cluster] = clusters_[at_++];
      events_.append(name, *cluster, now_seconds_, out);
    }
    return at_ < clusters_.size();
  }

 private:
  HystrixEvents& events_;
  const int64_t now_seconds_;
  std::vector<std::pair<std::string, std::shared_ptr<upstream::Cluster>>> clusters_;
  size_t at_ = 0;
};

std::unique_ptr<stats::Page> HystrixEvents::open(int64_t now_seconds) {
  at_ = (at_ + 1) % slots_;
  // Clusters that are gone.
  std::erase_if(windows_, [this](const auto& window) {
    return !data_plane_.clusters().contains(window.first);
  });
  return std::make_unique<EventPage>(*this, now_seconds);
}

HystrixEvents::Counts HystrixEvents::countsOf(upstream::Cluster& cluster) {
  stats::Block<stats::Cluster>& block = cluster.stats();
  const auto counter = [&block](ClusterCounter which) {
    return block.counter(static_cast<size_t>(which)).value;
  };
  block.showCodes({&kSuccess, 1});
  block.showCodes(kErrors);
  Counts counts;
  uint64_t failed = 0;
  for (const stats::BlockBase::Code& code : block.codes()) {
    if (code.name == kSuccess) counts.success = code.value;
    for (const CodeName error : kErrors) {
      if (code.name == error) failed += code.value;
    }
  }
  const uint64_t timeouts = counter(ClusterCounter::UpstreamRqTimeout);
  // Timeouts were answered with an error.
  counts.errors = failed - timeouts;
  counts.timeouts = timeouts + counter(ClusterCounter::UpstreamRqPerTryTimeout);
  counts.rejected = counter(ClusterCounter::UpstreamRqPendingOverflow);
  return counts;
}

HystrixEvents::Counts HystrixEvents::move(const std::string& cluster, const Counts& now) {
  Window& window = windows_[cluster];
  if (window.empty()) window.assign(slots_, now);
  window[at_] = now;
  const Counts& before = window[(at_ + 1) % slots_];
  // Counters may have been reset.
  const auto since = [](uint64_t now, uint64_t before) { return now < before ? 0 : now - before; };
  return {since(now.errors, before.errors), since(now.timeouts, before.timeouts),
          since(now.success, before.success), since(now.rejected, before.rejected),
          since(now.total(), before.total())};
}

void HystrixEvents::append(const std::string& name, upstream::Cluster& cluster, int64_t now_seconds,
                           std::string* out) {
  const Counts counts = move(name, countsOf(cluster));
  const uint64_t failed = counts.errors + counts.timeouts + counts.rejected;
  const uint64_t max_pending = cluster.limits(0).pending_requests.max();
  const uint64_t hosts = cluster.hosts()->hosts().size();
  const auto rq_time = static_cast<size_t>(stats::Cluster::Histogram::UpstreamRqTime);
  {
    Event event(out);
    event.text("type", "HystrixCommand");
    event.text("name", name);
    event.text("group", "NA");
    event.number("currentTime", static_cast<uint64_t>(now_seconds));
    event.literal("isCircuitBreakerOpen", "false");
    event.number("errorPercentage", counts.all == 0 ? 0 : 100 * failed / counts.all);
    event.number("errorCount", counts.errors);
    event.number("requestCount", counts.all);
    event.zeros({"rollingCountCollapsedRequests", "rollingCountExceptionsThrown"});
    event.number("rollingCountFailure", counts.errors);
    event.zeros({"rollingCountFallbackFailure", "rollingCountFallbackRejection",
                 "rollingCountFallbackSuccess", "rollingCountResponsesFromCache"});
    event.number("rollingCountSemaphoreRejected", counts.rejected);
    event.zeros({"rollingCountShortCircuited"});
    event.number("rollingCountSuccess", counts.success);
    event.zeros({"rollingCountThreadPoolRejected"});
    event.number("rollingCountTimeout", counts.timeouts);
    event.zeros({"rollingCountBadRequests", "currentConcurrentExecutionCount"});
    event.text("latencyExecute_mean", "null");
    event.literal("latencyExecute", latencyOf(cluster.stats().interval(rq_time)));
    event.zeros({"propertyValue_circuitBreakerRequestVolumeThreshold",
                 "propertyValue_circuitBreakerSleepWindowInMilliseconds",
                 "propertyValue_circuitBreakerErrorThresholdPercentage"});
    event.literal("propertyValue_circuitBreakerForceOpen", "false");
    event.literal("propertyValue_circuitBreakerForceClosed", "true");
    event.text("propertyValue_executionIsolationStrategy", "SEMAPHORE");
    event.zeros({"propertyValue_executionIsolationThreadTimeoutInMilliseconds"});
    event.literal("propertyValue_executionIsolationThreadInterruptOnTimeout", "false");
    event.number("propertyValue_executionIsolationSemaphoreMaxConcurrentRequests", max_pending);
    event.zeros({"propertyValue_fallbackIsolationSemaphoreMaxConcurrentRequests"});
    event.literal("propertyValue_requestCacheEnabled", "false");
    event.literal("propertyValue_requestLogEnabled", "true");
    event.number("reportingHosts", hosts);
    event.number("propertyValue_metricsRollingStatisticalWindowInMilliseconds", interval_ms_);
  }
  Event event(out);
  event.zeros({"currentPoolSize", "rollingMaxActiveThreads", "currentActiveCount",
               "currentCompletedTaskCount"});
  event.number("propertyValue_queueSizeRejectionThreshold", max_pending);
  event.text("type", "HystrixThreadPool");
  event.number("reportingHosts", hosts);
  event.number("propertyValue_metricsRollingStatisticalWindowInMilliseconds", interval_ms_);
  event.text("name", name);
  event.zeros({"currentLargestPoolSize", "currentCorePoolSize", "currentQueueSize",
               "currentTaskCount", "rollingCountThreadsExecuted", "currentMaximumPoolSize"});
}

}  // namespace fairlead::worker
