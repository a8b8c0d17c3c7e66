// Which hosts are put out and when they come back, turn by turn, with a clock of the test's own.
#include <string>
#include <utility>
#include <vector>

#include "stats/scopes.h"
#include "test/native/test.h"
#include "upstream/outlier/detector.h"
#include "upstream/outlier/event_log.h"

namespace fairlead::test {

namespace {

using upstream::Host;
using upstream::HostCounters;
using upstream::OutlierDetector;
using upstream::OutlierKind;
using upstream::OutlierMonitor;
using upstream::OutlierReport;
using upstream::OutlierReports;
using upstream::OutlierResult;
using upstream::SuccessRates;
using FailureOrigin = OutlierMonitor::Origin;

constexpr uint64_t kSecond = 1000;
constexpr uint64_t kWall = 1'700'000'000'250;

plan::LiveNumber live(uint64_t value) { return {value, 0}; }

// As a cluster has it that says nothing but `outlier_detection: {}`, but hosts may all be put out.
plan::OutlierDetection settings() {
  plan::OutlierDetection plan;
  plan.interval_ms = live(10 * kSecond);
  plan.base_ejection_time_ms = live(30 * kSecond);
  plan.max_ejection_time_ms = live(300 * kSecond);
  plan.max_ejection_time_jitter_ms = live(0);
  plan.max_ejection_percent = live(100);
  plan.consecutive_5xx = live(5);
  plan.enforcing_consecutive_5xx = live(100);
  plan.consecutive_gateway_failure = live(5);
  plan.enforcing_consecutive_gateway_failure = live(0);
  plan.consecutive_local_origin_failure = live(5);
  plan.enforcing_consecutive_local_origin_failure = live(100);
  plan.success_rate_minimum_hosts = live(5);
  plan.success_rate_request_volume = live(100);
  plan.success_rate_stdev_factor = live(1900);
  plan.enforcing_success_rate = live(100);
  plan.enforcing_local_origin_success_rate = live(100);
  plan.failure_percentage_threshold = live(85);
  plan.failure_percentage_minimum_hosts = live(5);
  plan.failure_percentage_request_volume = live(50);
  plan.enforcing_failure_percentage = live(0);
  plan.enforcing_failure_percentage_local_origin = live(0);
  plan.ends_with_health_check = true;
  return plan;
}

// A detector, its hosts, and the lines of its log.
class Bench final : private upstream::OutlierListener {
 public:
  explicit Bench(const plan::OutlierDetection& plan, size_t hosts = 5)
      : stats_(std::make_shared<OutlierDetector::Stats>(
            stats::plainScope("cluster.c.outlier_detection."), 2)),
        detector_("c", plan, nullptr, reports_, stats_, this, 0, Random(1)) {
    OutlierDetector::Hosts list;
    for (size_t i = 0; i < hosts; ++i) list.push_back(makeHost(static_cast<uint32_t>(i + 1)));
    hosts_ = list;
    detector_.setHosts(std::move(list));
  }

  Host& host(size_t at) { return *hosts_[at]; }
  OutlierDetector& detector() { return detector_; }
  std::vector<std::string>& log() { return log_; }
  void keepOnly(size_t count) {
    hosts_.resize(count);
    detector_.setHosts(hosts_);
  }

  void answer(size_t at, uint16_t status, int times = 1) {
    put(at, OutlierResult::Answer, status, times);
  }
  void put(size_t at, OutlierResult result, uint16_t status = 0, int times = 1) {
    for (int i = 0; i < times; ++i) host(at).outlier()->put(host(at).counters(0), result, status);
  }
  // What workers have told takes effect. True: flags have changed.
  bool turn(uint64_t now_ms) {
    bool has_changed = detector_.onInterval(now_ms) > 0;
    for (const OutlierReport& report : reports_->take()) {
      const std::shared_ptr<Host> host = report.host.lock();
      has_changed |= host && detector_.onReport(*host, report.kind, now_ms);
    }
    return has_changed;
  }
  bool isOut(size_t at) { return host(at).health().has(upstream::HealthFlag::FailedOutlier); }
  uint64_t count(stats::OutlierDetection::Counter counter) const {
    return stats_->counter(static_cast<size_t>(counter)).value;
  }
  uint64_t active() const {
    return stats_->gauge(static_cast<size_t>(stats::OutlierDetection::Gauge::EjectionsActive))
        .value;
  }

 private:
  std::shared_ptr<Host> makeHost(uint32_t number) {
    plan::Host host;
    host.address.emplace().ip = std::string("\x0a\0\0\1", 4);
    host.address->port = number;
    host.weight = 1;
    return std::make_shared<Host>(std::make_shared<const plan::Host>(host), 1, detector_.watch());
  }
  void onEjected(std::string_view cluster, const Host& host, OutlierKind kind, bool is_enforced,
                 const SuccessRates& rates, uint64_t now_ms) override {
    log_.push_back(upstream::ejectionLine(cluster, host, kind, is_enforced, rates, now_ms, kWall));
  }
  void onUnejected(std::string_view cluster, const Host& host, uint64_t now_ms) override {
    log_.push_back(upstream::unejectionLine(cluster, host, now_ms, kWall));
  }

  const std::shared_ptr<OutlierReports> reports_ = std::make_shared<OutlierReports>(nullptr);
  const std::shared_ptr<OutlierDetector::Stats> stats_;
  std::vector<std::string> log_;
  OutlierDetector detector_;
  std::vector<std::shared_ptr<Host>> hosts_;
};

using Counter = stats::OutlierDetection::Counter;

}  // namespace

TEST("So many answers of 5xx in a row put a host out; one that is none begins the row anew") {
  Bench bench(settings());
  bench.answer(0, 500, 4);
  bench.answer(0, 200);
  bench.answer(0, 500, 4);
  EXPECT(!bench.turn(1) && !bench.isOut(0));
  bench.answer(0, 599);
  EXPECT(bench.turn(2) && bench.isOut(0) && !bench.isOut(1));
  EXPECT(bench.active() == 1 && bench.count(Counter::EjectionsConsecutive5xx) == 1);
  EXPECT(bench.count(Counter::EjectionsEnforcedConsecutive5xx) == 1);
  EXPECT(bench.count(Counter::EjectionsTotal) == 1 &&
         bench.count(Counter::EjectionsEnforcedTotal) == 1);
  EXPECT(bench.log().size() == 1);
  EXPECT(
      bench.log()[0] ==
      "{\"type\":\"CONSECUTIVE_5XX\",\"timestamp\":\"2023-11-14T22:13:20.250Z\",\"cluster_name\":"
      "\"c\",\"upstream_url\":\"10.0.0.1:1\",\"action\":\"EJECT\",\"num_ejections\":1,"
      "\"enforced\":true,\"eject_consecutive_event\":{}}");
}

TEST("What is not enforced is counted and told of") {
  Bench bench(settings());
  bench.answer(0, 503, 3);
  // It ends the row of gateway failures, not that of 5xx.
  bench.answer(0, 500);
  bench.answer(0, 503, 4);
  EXPECT(bench.turn(1));
  EXPECT(bench.count(Counter::EjectionsDetectedConsecutiveGatewayFailure) == 0);
  bench.answer(1, 200);
  bench.answer(1, 502, 2);
  bench.answer(1, 504, 2);
  bench.answer(1, 503, 1);
  bench.turn(2);
  EXPECT(bench.count(Counter::EjectionsDetectedConsecutiveGatewayFailure) == 1);
  EXPECT(bench.count(Counter::EjectionsEnforcedConsecutiveGatewayFailure) == 0);
  // The other kind, at the same answer, is.
  EXPECT(bench.isOut(1) && bench.log().size() == 3);
  EXPECT(bench.log()[1].find("\"type\":\"CONSECUTIVE_GATEWAY_FAILURE\"") != std::string::npos);
  EXPECT(bench.log()[1].find("\"enforced\":false") != std::string::npos);
}

TEST("A host comes back at the first interval after its time, which grows and shrinks again") {
  Bench bench(settings());
  bench.answer(0, 500, 5);
  bench.turn(1 * kSecond);
  EXPECT(!bench.turn(10 * kSecond) && !bench.turn(20 * kSecond) && !bench.turn(30 * kSecond));
  EXPECT(!bench.turn(39 * kSecond));
  EXPECT(bench.turn(40 * kSecond) && !bench.isOut(0) && bench.active() == 0);
  EXPECT(bench.log()[1].find("\"secs_since_last_action\":\"39\"") != std::string::npos);
  EXPECT(
      bench.log()[1].ends_with("\"action\":\"UNEJECT\",\"num_ejections\":1,\"enforced\":false}"));
  // Twice as long the second time.
  bench.answer(0, 500, 5);
  EXPECT(bench.turn(41 * kSecond));
  for (uint64_t at = 50; at < 100; at += 10) EXPECT(!bench.turn(at * kSecond));
  EXPECT(bench.turn(110 * kSecond));
  // Well for two intervals, it is out for the base time again.
  bench.turn(120 * kSecond);
  bench.turn(130 * kSecond);
  bench.answer(0, 500, 5);
  EXPECT(bench.turn(131 * kSecond));
  EXPECT(!bench.turn(160 * kSecond));
  EXPECT(bench.turn(170 * kSecond));
}

TEST("No host is out for longer than the longest time, but for the jitter") {
  plan::OutlierDetection plan = settings();
  plan.max_ejection_time_ms = live(40 * kSecond);
  plan.max_ejection_time_jitter_ms = live(5 * kSecond);
  Bench bench(plan);
  uint64_t now = 0;
  for (int i = 0; i < 6; ++i) {
    bench.answer(0, 500, 5);
    EXPECT(bench.turn(++now));
    const uint64_t out_since = now;
    while (bench.isOut(0)) bench.turn(now += 10 * kSecond);
    EXPECT(now - out_since >= 30 * kSecond && now - out_since <= 60 * kSecond);
  }
}

TEST("A row that went on while a host was out does not put it out again at once") {
  Bench bench(settings());
  bench.answer(0, 500, 5);
  bench.turn(1);
  bench.answer(0, 500, 4);
  for (uint64_t at = 10; at <= 40; at += 10) bench.turn(at * kSecond);
  EXPECT(!bench.isOut(0));
  bench.answer(0, 500, 4);
  EXPECT(!bench.turn(41 * kSecond));
}

TEST("No more hosts are put out than may be, but one where that is wanted") {
  plan::OutlierDetection plan = settings();
  plan.max_ejection_percent = live(40);
  Bench bench(plan);
  for (size_t i = 0; i < 5; ++i) bench.answer(i, 500, 5);
  bench.turn(1);
  EXPECT(bench.active() == 2 && bench.count(Counter::EjectionsOverflow) == 3);
  EXPECT(bench.count(Counter::EjectionsDetectedConsecutive5xx) == 5);
  EXPECT(bench.count(Counter::EjectionsTotal) == 2 && bench.log().size() == 2);

  plan.max_ejection_percent = live(0);
  Bench none(plan);
  none.answer(0, 500, 5);
  EXPECT(!none.turn(1));
  plan.always_ejects_one = true;
  Bench one(plan);
  one.answer(0, 500, 5);
  one.answer(1, 500, 5);
  EXPECT(one.turn(1) && one.active() == 1);
}

TEST("Hosts that leave count no more, and what is told of them comes to nothing") {
  Bench bench(settings());
  bench.answer(4, 500, 5);
  bench.turn(1);
  bench.answer(3, 500, 5);
  const std::shared_ptr<Host> gone = bench.host(4).shared_from_this();
  const std::shared_ptr<Host> leaving = bench.host(3).shared_from_this();
  EXPECT(bench.active() == 1);
  bench.keepOnly(3);
  EXPECT(bench.active() == 0 && gone->isHealthy());
  EXPECT(!bench.turn(2) && leaving->isHealthy());
  EXPECT(bench.count(Counter::EjectionsDetectedConsecutive5xx) == 1);
}

TEST("Connections and answers count together, unless they are told apart") {
  Bench bench(settings());
  bench.put(0, OutlierResult::ConnectFailed, 0, 3);
  // Says nothing before there is an answer.
  bench.put(0, OutlierResult::Connected);
  bench.put(0, OutlierResult::Timeout, 504, 2);
  EXPECT(bench.turn(1) && bench.isOut(0));
  EXPECT(bench.count(Counter::EjectionsDetectedConsecutiveGatewayFailure) == 1);
  // As a route may have its timeouts answered.
  bench.put(1, OutlierResult::Timeout, 204, 9);
  bench.put(2, OutlierResult::ConnectFailed, 0, 4);
  bench.put(2, OutlierResult::ConnectedFinally);
  bench.put(2, OutlierResult::ConnectFailed, 0, 4);
  EXPECT(!bench.turn(2));

  plan::OutlierDetection plan = settings();
  plan.splits_local_origin = true;
  Bench split(plan);
  split.put(0, OutlierResult::ConnectFailed, 0, 4);
  split.answer(0, 500, 4);
  EXPECT(!split.turn(1));
  split.put(0, OutlierResult::Timeout, 504);
  EXPECT(split.turn(2) && split.isOut(0));
  EXPECT(split.count(Counter::EjectionsEnforcedConsecutiveLocalOriginFailure) == 1);
  // A kind that came later counts only under its own name.
  EXPECT(split.count(Counter::EjectionsTotal) == 0);
  split.put(1, OutlierResult::ConnectFailed, 0, 4);
  split.put(1, OutlierResult::Connected);
  split.put(1, OutlierResult::ConnectFailed, 0, 4);
  EXPECT(!split.turn(3));
}

TEST("A host whose success rate lies far below the average is put out at the interval") {
  plan::OutlierDetection plan = settings();
  plan.consecutive_5xx = live(0);
  Bench bench(plan);
  for (size_t i = 0; i < 4; ++i) bench.answer(i, 200, 100);
  bench.answer(4, 200, 50);
  bench.answer(4, 500, 50);
  EXPECT(!bench.turn(9 * kSecond) && bench.detector().rates(FailureOrigin::External).average == -1);
  EXPECT(bench.turn(10 * kSecond) && bench.isOut(4) && bench.active() == 1);
  // The example of the specification: 50, 100, 100, 100, 100 with a deviation of 20.
  EXPECT(bench.detector().rates(FailureOrigin::External).average == 90);
  EXPECT(bench.detector().rates(FailureOrigin::External).ejection_threshold == 52);
  EXPECT(bench.detector().rates(FailureOrigin::Local).average == -1);
  EXPECT(bench.host(4).outlier()->successRate(FailureOrigin::External) == 50);
  EXPECT(bench.count(Counter::EjectionsEnforcedSuccessRate) == 1 &&
         bench.count(Counter::EjectionsSuccessRate) == 1 &&
         bench.count(Counter::EjectionsTotal) == 1);
  EXPECT(bench.log()[0].ends_with(
      "\"eject_success_rate_event\":{\"host_success_rate\":50,\"cluster_average_success_rate\":90,"
      "\"cluster_success_rate_ejection_threshold\":52}}"));
  // Nothing came since.
  bench.turn(20 * kSecond);
  EXPECT(bench.detector().rates(FailureOrigin::External).average == -1);
  EXPECT(bench.host(0).outlier()->successRate(FailureOrigin::External) == -1);
}

TEST("Too few hosts with enough requests are not compared") {
  plan::OutlierDetection plan = settings();
  plan.consecutive_5xx = live(0);
  Bench bench(plan);
  for (size_t i = 0; i < 4; ++i) bench.answer(i, 200, 100);
  bench.answer(4, 500, 99);
  bench.turn(10 * kSecond);
  EXPECT(bench.active() == 0 && bench.detector().rates(FailureOrigin::External).average == -1);
  // Enough for the other comparison, which has found it and enforces nothing.
  EXPECT(bench.host(4).outlier()->successRate(FailureOrigin::External) == 0);
  EXPECT(bench.count(Counter::EjectionsDetectedFailurePercentage) == 1);
  EXPECT(
      bench.log()[0].ends_with("\"enforced\":false,\"eject_failure_percentage_event\":"
                               "{\"host_success_rate\":0}}"));
}

TEST("A host that fails too often is put out, whatever the others do") {
  plan::OutlierDetection plan = settings();
  plan.consecutive_5xx = live(0);
  plan.enforcing_failure_percentage = live(100);
  plan.failure_percentage_minimum_hosts = live(2);
  Bench bench(plan, 3);
  for (size_t i = 0; i < 2; ++i) {
    bench.answer(i, 200, 8);
    bench.answer(i, 500, 42);
  }
  bench.answer(2, 200, 7);
  bench.answer(2, 500, 43);
  EXPECT(bench.turn(10 * kSecond));
  // 84 and 86 of 100.
  EXPECT(!bench.isOut(0) && !bench.isOut(1) && bench.isOut(2));
  EXPECT(bench.count(Counter::EjectionsEnforcedFailurePercentage) == 1 &&
         bench.count(Counter::EjectionsTotal) == 0);
}

TEST("Connections are compared where they are told apart") {
  plan::OutlierDetection plan = settings();
  plan.splits_local_origin = true;
  plan.consecutive_local_origin_failure = live(0);
  plan.enforcing_failure_percentage_local_origin = live(100);
  Bench bench(plan);
  for (size_t i = 0; i < 4; ++i) bench.put(i, OutlierResult::Connected, 0, 100);
  bench.put(4, OutlierResult::ConnectFailed, 0, 100);
  EXPECT(bench.turn(10 * kSecond) && bench.isOut(4));
  EXPECT(bench.detector().rates(FailureOrigin::Local).average == 80);
  EXPECT(bench.host(4).outlier()->successRate(FailureOrigin::Local) == 0);
  EXPECT(bench.count(Counter::EjectionsEnforcedLocalOriginSuccessRate) == 1);
  // Found wanting twice, it is told of twice, and is out once.
  EXPECT(bench.count(Counter::EjectionsEnforcedLocalOriginFailurePercentage) == 1);
  EXPECT(bench.log().size() == 2 && bench.active() == 1);
  for (uint64_t at = 20; bench.isOut(4); at += 10) bench.turn(at * kSecond);
  EXPECT(bench.active() == 0);
}

TEST("A host that says it is degraded counts as that for a time, where that is looked for") {
  Bench blind(settings());
  blind.host(0).outlier()->onDegraded();
  EXPECT(!blind.turn(1));
  plan::OutlierDetection plan = settings();
  plan.detects_degraded = true;
  Bench bench(plan);
  bench.host(0).outlier()->onDegraded();
  bench.host(0).outlier()->onDegraded();
  EXPECT(bench.turn(1 * kSecond) && bench.host(0).isDegraded());
  EXPECT(bench.count(Counter::EjectionsDetectedDegradation) == 1 && bench.active() == 0);
  EXPECT(bench.log().size() == 1 && bench.log()[0].starts_with("{\"type\":\"DEGRADED\""));
  EXPECT(!bench.turn(30 * kSecond));
  EXPECT(bench.turn(40 * kSecond) && bench.host(0).isHealthy());
}

TEST("A health check that succeeds brings a host back, where that is wanted") {
  Bench bench(settings());
  bench.answer(0, 500, 5);
  bench.turn(1);
  bench.host(0).changeHealth({}, upstream::HealthFlag::FailedActive);
  bench.host(0).outlier()->onCheckPassed();
  EXPECT(!bench.turn(2) && bench.isOut(0));
  bench.host(0).changeHealth(upstream::HealthFlag::FailedActive, {});
  bench.host(0).outlier()->onCheckPassed();
  EXPECT(bench.turn(3) && bench.host(0).isHealthy());

  plan::OutlierDetection plan = settings();
  plan.ends_with_health_check = false;
  Bench stern(plan);
  stern.answer(0, 500, 5);
  stern.turn(1);
  stern.host(0).outlier()->onCheckPassed();
  EXPECT(!stern.turn(2));
}

TEST("A detector that ends leaves no host out") {
  plan::OutlierDetection plan = settings();
  const auto reports = std::make_shared<OutlierReports>(nullptr);
  auto detector = std::make_unique<OutlierDetector>(
      "c", plan, nullptr, reports,
      std::make_shared<OutlierDetector::Stats>(stats::plainScope("o."), 2), nullptr, 0);
  const auto watch = detector->watch();
  auto host = std::make_shared<Host>(std::make_shared<const plan::Host>(), 1, watch);
  detector->setHosts({host});
  for (int i = 0; i < 5; ++i) {
    host->outlier()->put(host->counters(0), OutlierResult::Answer, 500);
  }
  EXPECT(detector->onReport(*host, reports->take()[0].kind, 1) && !host->isHealthy());
  detector.reset();
  EXPECT(host->isHealthy() && !watch->detector);
}

}  // namespace fairlead::test
