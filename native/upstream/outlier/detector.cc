#include "upstream/outlier/detector.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

namespace fairlead::upstream {

namespace {

using Counter = stats::OutlierDetection::Counter;
using Gauge = stats::OutlierDetection::Gauge;
using Record = OutlierMonitor::Record;
using Volume = OutlierMonitor::Volume;

Record& recordOf(Host& host) { return host.outlier()->record(); }

Volume difference(const Volume& now, const Volume& before) {
  return {now.total - before.total, now.good - before.good};
}

bool isOut(const Host& host) { return host.health().has(HealthFlag::FailedOutlier); }

bool isDegraded(const Host& host) { return host.health().has(HealthFlag::DegradedOutlier); }

// Hosts below the threshold do so much worse than the average.
SuccessRates ratesOf(const std::vector<double>& rates, double stdev_factor) {
  const auto count = static_cast<double>(rates.size());
  double sum = 0;
  for (const double rate : rates) sum += rate;
  const double average = sum / count;
  double variance = 0;
  for (const double rate : rates) variance += (rate - average) * (rate - average);
  return {average, average - stdev_factor * std::sqrt(variance / count)};
}

}  // namespace

OutlierDetector::OutlierDetector(std::string cluster, const plan::OutlierDetection& plan,
                                 RuntimeSlots* slots, std::shared_ptr<OutlierReports> reports,
                                 std::shared_ptr<Stats> stats, OutlierListener* listener,
                                 uint64_t now_ms, Random random)
    : cluster_(std::move(cluster)),
      watch_(std::make_shared<OutlierWatch>(
          OutlierWatch{OutlierSettings(plan, slots), std::move(reports), this})),
      stats_(std::move(stats)),
      listener_(listener),
      random_(random),
      due_ms_(now_ms + settings().interval_ms.value()) {}

OutlierDetector::~OutlierDetector() {
  setHosts({});
  watch_->detector = nullptr;
}

void OutlierDetector::setHosts(Hosts hosts) {
  // Those that stay of an earlier cluster are another's.
  std::erase_if(hosts, [this](const auto& host) {
    return !host->outlier() || host->outlier()->watch() != watch_;
  });
  std::unordered_set<const Host*> staying;
  staying.reserve(hosts.size());
  for (const auto& host : hosts) staying.insert(host.get());
  for (const auto& host : hosts_) {
    if (staying.contains(host.get())) continue;
    if (isOut(*host)) {
      --ejected_;
      stats_->shard(0)->down(Gauge::EjectionsActive);
    }
    host->changeHealth(HealthFlag::FailedOutlier | HealthFlag::DegradedOutlier, {});
  }
  hosts_ = std::move(hosts);
}

// A host whose last failure came while it was leaving is none of its any more.
bool OutlierDetector::isWatched(const Host& host) const {
  return std::any_of(hosts_.begin(), hosts_.end(),
                     [&host](const auto& one) { return one.get() == &host; });
}

bool OutlierDetector::onReport(Host& host, OutlierKind kind, uint64_t now_ms) {
  if (!isWatched(host)) return false;
  if (kind == OutlierKind::Degraded) return degrade(host, now_ms);
  if (kind == kCheckPassed) return unejectAfterCheck(host, now_ms);
  if (isOut(host)) return false;
  countDetected(kind);
  const bool has_changed = eject(host, kind, now_ms);
  if (kind == OutlierKind::Consecutive5xx) stats_->shard(0)->add(Counter::EjectionsConsecutive5xx);
  // The next row begins here, also where nothing came of this one.
  host.outlier()->resetConsecutive(kind);
  return has_changed;
}

size_t OutlierDetector::onInterval(uint64_t now_ms) {
  if (now_ms < due_ms_) return 0;
  size_t changes = 0;
  for (const auto& host : hosts_) {
    changes += unejectIfDue(*host, now_ms) ? 1 : 0;
    changes += undegradeIfDue(*host, now_ms) ? 1 : 0;
    takeVolumes(*host);
  }
  changes += compareRates(Origin::External, now_ms);
  changes += compareRates(Origin::Local, now_ms);
  for (const auto& host : hosts_) {
    Record& record = recordOf(*host);
    if (!isOut(*host)) shorten(&record.backoff, record.unejected_at_ms, now_ms);
    if (!isDegraded(*host)) shorten(&record.degraded_backoff, record.undegraded_at_ms, now_ms);
  }
  due_ms_ = now_ms + settings().interval_ms.value();
  return changes;
}

// ---- out and back ----

bool OutlierDetector::mayEject(const Host& host) const {
  const uint64_t limit = std::min<uint64_t>(100, settings().max_ejection_percent.value());
  const uint64_t after = ejected_ + (isOut(host) ? 0 : 1);
  if (settings().always_ejects_one && ejected_ == 0) return true;
  return 100.0 * static_cast<double>(after) / static_cast<double>(hosts_.size()) <=
         static_cast<double>(limit);
}

// A host may be found wanting twice at one interval: it counts and is told of twice, and is out
// once.
bool OutlierDetector::eject(Host& host, OutlierKind kind, uint64_t now_ms) {
  stats::Shard<stats::OutlierDetection>& stats = *stats_->shard(0);
  if (!mayEject(host)) {
    stats.add(Counter::EjectionsOverflow);
    return false;
  }
  const bool counts_as_before =
      kind == OutlierKind::Consecutive5xx || kind == OutlierKind::SuccessRate;
  if (counts_as_before) stats.add(Counter::EjectionsTotal);
  const bool is_enforced = isEnforced(kind);
  const bool has_changed = is_enforced && !isOut(host);
  if (is_enforced) {
    countEnforced(kind);
    Record& record = recordOf(host);
    ++record.ejections;
    record.ejected_at_ms = now_ms;
    record.jitter_ms = random_.below(settings().max_ejection_time_jitter_ms.value() + 1);
    lengthen(&record.backoff);
  }
  if (has_changed) {
    ++ejected_;
    stats.up(Gauge::EjectionsActive);
    host.changeHealth({}, HealthFlag::FailedOutlier);
  }
  if (listener_) {
    const bool is_local = kind == OutlierKind::SuccessRateLocalOrigin ||
                          kind == OutlierKind::FailurePercentageLocalOrigin;
    listener_->onEjected(cluster_, host, kind, is_enforced,
                         rates(is_local ? Origin::Local : Origin::External), now_ms);
  }
  return has_changed;
}

bool OutlierDetector::degrade(Host& host, uint64_t now_ms) {
  if (isDegraded(host)) return false;
  countDetected(OutlierKind::Degraded);
  host.changeHealth({}, HealthFlag::DegradedOutlier);
  Record& record = recordOf(host);
  record.degraded_at_ms = now_ms;
  record.jitter_ms = random_.below(settings().max_ejection_time_jitter_ms.value() + 1);
  lengthen(&record.degraded_backoff);
  if (listener_) {
    listener_->onEjected(cluster_, host, OutlierKind::Degraded, true, rates(Origin::External),
                         now_ms);
  }
  return true;
}

void OutlierDetector::uneject(Host& host, uint64_t now_ms) {
  --ejected_;
  stats_->shard(0)->down(Gauge::EjectionsActive);
  host.changeHealth(HealthFlag::FailedOutlier, {});
  // A row that had almost been long enough when it was put out is no reason to do so again.
  host.outlier()->resetConsecutive();
  recordOf(host).unejected_at_ms = now_ms;
  if (listener_) listener_->onUnejected(cluster_, host, now_ms);
}

bool OutlierDetector::unejectAfterCheck(Host& host, uint64_t now_ms) {
  if (!isOut(host) || host.health().has(HealthFlag::FailedActive)) return false;
  uneject(host, now_ms);
  return true;
}

bool OutlierDetector::unejectIfDue(Host& host, uint64_t now_ms) {
  const Record& record = recordOf(host);
  if (!isOut(host) || !isOver(*record.ejected_at_ms, record.backoff, record.jitter_ms, now_ms)) {
    return false;
  }
  uneject(host, now_ms);
  return true;
}

bool OutlierDetector::undegradeIfDue(Host& host, uint64_t now_ms) {
  Record& record = recordOf(host);
  if (!isDegraded(host) ||
      !isOver(*record.degraded_at_ms, record.degraded_backoff, record.jitter_ms, now_ms)) {
    return false;
  }
  host.changeHealth(HealthFlag::DegradedOutlier, {});
  record.undegraded_at_ms = now_ms;
  if (listener_) listener_->onUnejected(cluster_, host, now_ms);
  return true;
}

// ---- how long ----

bool OutlierDetector::isOver(uint64_t since_ms, uint64_t backoff, uint64_t jitter_ms,
                             uint64_t now_ms) const {
  const uint64_t ms = std::min(settings().base_ejection_time_ms.value() * backoff,
                               settings().max_ejection_time_ms.value());
  return ms + jitter_ms <= now_ms - since_ms;
}

void OutlierDetector::lengthen(uint64_t* backoff) const {
  const uint64_t base_ms = settings().base_ejection_time_ms.value();
  if (*backoff * base_ms < settings().max_ejection_time_ms.value() + base_ms) ++*backoff;
}

// It has been well for an interval.
void OutlierDetector::shorten(uint64_t* backoff, const std::optional<uint64_t>& since_ms,
                              uint64_t now_ms) const {
  if (since_ms && now_ms - *since_ms >= settings().interval_ms.value() && *backoff > 0) --*backoff;
}

// ---- rates ----

void OutlierDetector::takeVolumes(Host& host) {
  Record& record = recordOf(host);
  const Volume now[2] = {
      {host.sum(&HostCounters::results), host.sum(&HostCounters::good_results)},
      {host.sum(&HostCounters::local_results), host.sum(&HostCounters::good_local_results)}};
  for (size_t origin = 0; origin < 2; ++origin) {
    record.latest[origin] = difference(now[origin], record.until[origin]);
    record.until[origin] = now[origin];
    record.success_rate[origin] = -1;
  }
}

size_t OutlierDetector::compareRates(Origin origin, uint64_t now_ms) {
  const auto at = static_cast<size_t>(origin);
  rates_[at] = {};
  const uint64_t rate_hosts = settings().success_rate_minimum_hosts.value();
  const uint64_t rate_volume = settings().success_rate_request_volume.value();
  const uint64_t failure_hosts = settings().failure_percentage_minimum_hosts.value();
  const uint64_t failure_volume = settings().failure_percentage_request_volume.value();
  if (hosts_.size() < rate_hosts && hosts_.size() < failure_hosts) return 0;
  std::vector<Rated> by_rate;
  std::vector<Rated> by_failures;
  std::vector<double> rates;
  for (const auto& host : hosts_) {
    Record& record = recordOf(*host);
    const Volume& volume = record.latest[at];
    if (isOut(*host) || volume.total == 0) continue;
    const double rate =
        100.0 * static_cast<double>(volume.good) / static_cast<double>(volume.total);
    if (volume.total >= std::min(rate_volume, failure_volume)) record.success_rate[at] = rate;
    if (volume.total >= rate_volume) {
      by_rate.push_back({host.get(), rate});
      rates.push_back(rate);
    }
    if (volume.total >= failure_volume) by_failures.push_back({host.get(), rate});
  }
  size_t changes = 0;
  const bool is_local = origin == Origin::Local;
  if (!by_rate.empty() && by_rate.size() >= rate_hosts) {
    const double factor =
        static_cast<double>(settings().success_rate_stdev_factor.value()) / 1000.0;
    rates_[at] = ratesOf(rates, factor);
    const OutlierKind kind =
        is_local ? OutlierKind::SuccessRateLocalOrigin : OutlierKind::SuccessRate;
    for (const Rated& rated : by_rate) {
      if (rated.success_rate >= rates_[at].ejection_threshold) continue;
      stats_->shard(0)->add(Counter::EjectionsSuccessRate);
      countDetected(kind);
      changes += eject(*rated.host, kind, now_ms) ? 1 : 0;
    }
  }
  if (!by_failures.empty() && by_failures.size() >= failure_hosts) {
    const auto threshold = static_cast<double>(settings().failure_percentage_threshold.value());
    const OutlierKind kind =
        is_local ? OutlierKind::FailurePercentageLocalOrigin : OutlierKind::FailurePercentage;
    for (const Rated& rated : by_failures) {
      if (100.0 - rated.success_rate < threshold) continue;
      countDetected(kind);
      changes += eject(*rated.host, kind, now_ms) ? 1 : 0;
    }
  }
  return changes;
}

// ---- by kind ----

bool OutlierDetector::isEnforced(OutlierKind kind) {
  const auto share = [&]() -> const RuntimeNumber& {
    switch (kind) {
      case OutlierKind::Consecutive5xx:
        return settings().enforcing_consecutive_5xx;
      case OutlierKind::ConsecutiveGatewayFailure:
        return settings().enforcing_consecutive_gateway_failure;
      case OutlierKind::SuccessRate:
        return settings().enforcing_success_rate;
      case OutlierKind::ConsecutiveLocalOriginFailure:
        return settings().enforcing_consecutive_local_origin_failure;
      case OutlierKind::SuccessRateLocalOrigin:
        return settings().enforcing_local_origin_success_rate;
      case OutlierKind::FailurePercentage:
        return settings().enforcing_failure_percentage;
      case OutlierKind::FailurePercentageLocalOrigin:
      case OutlierKind::Degraded:
        break;
    }
    return settings().enforcing_failure_percentage_local_origin;
  };
  return random_.below(100) < share().value();
}

void OutlierDetector::countDetected(OutlierKind kind) {
  constexpr Counter kDetected[] = {
      Counter::EjectionsDetectedConsecutive5xx,
      Counter::EjectionsDetectedConsecutiveGatewayFailure,
      Counter::EjectionsDetectedSuccessRate,
      Counter::EjectionsDetectedConsecutiveLocalOriginFailure,
      Counter::EjectionsDetectedLocalOriginSuccessRate,
      Counter::EjectionsDetectedFailurePercentage,
      Counter::EjectionsDetectedLocalOriginFailurePercentage,
      Counter::EjectionsDetectedDegradation,
  };
  stats_->shard(0)->add(kDetected[static_cast<size_t>(kind)]);
}

// Of all kinds but Degraded.
void OutlierDetector::countEnforced(OutlierKind kind) {
  constexpr Counter kEnforced[] = {
      Counter::EjectionsEnforcedConsecutive5xx,
      Counter::EjectionsEnforcedConsecutiveGatewayFailure,
      Counter::EjectionsEnforcedSuccessRate,
      Counter::EjectionsEnforcedConsecutiveLocalOriginFailure,
      Counter::EjectionsEnforcedLocalOriginSuccessRate,
      Counter::EjectionsEnforcedFailurePercentage,
      Counter::EjectionsEnforcedLocalOriginFailurePercentage,
  };
  stats_->shard(0)->add(Counter::EjectionsEnforcedTotal);
  stats_->shard(0)->add(kEnforced[static_cast<size_t>(kind)]);
}

}  // namespace fairlead::upstream
