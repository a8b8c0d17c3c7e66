#include "health/check.h"

#include <algorithm>
#include <utility>

#include "upstream/connect.h"

namespace fairlead::health {

using upstream::HealthFlag;
using upstream::HealthFlags;
using Counter = stats::HealthCheck::Counter;
using Gauge = stats::HealthCheck::Gauge;

namespace {

constexpr uint64_t kMostTogetherMs = 20;

std::unique_ptr<const net::Address> checkAddress(const plan::Host& host) {
  if (!host.check_address) return nullptr;
  return std::make_unique<const net::Address>(net::Address::fromPlan(*host.check_address));
}

bool isOfNetwork(Failure failure) {
  return failure == Failure::Network || failure == Failure::NetworkTimeout;
}

}  // namespace

net::Millis togetherWithOthers(net::Millis due, uint64_t interval_ms) {
  const uint64_t grid = std::min(interval_ms / 100, kMostTogetherMs);
  return grid < 2 ? due : (due + grid / 2) / grid * grid;
}

Check::Check(CheckContext& context, std::shared_ptr<const CheckConfig> config,
             std::shared_ptr<upstream::Host> host)
    : context_(context),
      config_(std::move(config)),
      host_(std::move(host)),
      address_(checkAddress(host_->settings())),
      flags_(HealthFlags::ofBits(host_->health().bits() & kCheckFlags.bits())),
      published_(flags_) {
  if (!has(HealthFlag::FailedActive)) config_->stats().up(Gauge::Healthy);
  if (has(HealthFlag::DegradedActive)) config_->stats().up(Gauge::Degraded);
}

Check::~Check() {
  if (!has(HealthFlag::FailedActive)) config_->stats().down(Gauge::Healthy);
  if (has(HealthFlag::DegradedActive)) config_->stats().down(Gauge::Degraded);
  // It will never come.
  if (is_first_ && config_->round().leave()) tellRoundOver();
}

void Check::start() {
  const uint64_t jitter_ms = plan().initial_jitter_ms;
  if (jitter_ms == 0) {
    onTimer();
  } else {
    armIn(withJitter(0, jitter_ms));
  }
}

void Check::onTimer() {
  if (is_under_way_) {
    giveUp();
    fail(Failure::NetworkTimeout);
    return;
  }
  is_under_way_ = true;
  status_ = 0;
  config_->stats().add(Counter::Attempt);
  context_.loop.timers().arm(this, context_.loop.now() + plan().timeout_ms);
  begin();
}

net::Connection* Check::connect(int* error) {
  upstream::ConnectionUse use;
  use.address = address_.get();
  use.transport = config_->transport();
  config_->countTransport();
  use.protocols = plan().is_by_alpn && plan().alpn.empty() ? upstream::kByAlpn : plan().alpn;
  return upstream::beginConnection(*host_, config_->cluster(), context_.loop, config_->thread(),
                                   error, use);
}

void Check::succeed(bool degraded) {
  failures_ = 0;
  Transition transition = Transition::Unchanged;
  if (has(HealthFlag::FailedActive)) {
    // The first result counts at once: a start would take long otherwise.
    if (is_first_ || ++successes_ >= plan().healthy_threshold) {
      successes_ = 0;
      change(HealthFlag::FailedActive | HealthFlag::ActiveTimeout, {});
      transition = Transition::Changed;
      logEvent(*config_, *host_, {.kind = Event::Kind::Added, .is_first = is_first_});
    } else {
      transition = Transition::Pending;
    }
  } else if (plan().logs_successes) {
    logEvent(*config_, *host_, {.kind = Event::Kind::Succeeded});
  }
  change(HealthFlag::PendingActive, {});
  if (!has(HealthFlag::FailedActive)) change(HealthFlag::ExcludedImmediately, {});
  if (degraded != has(HealthFlag::DegradedActive)) {
    if (degraded) {
      change({}, HealthFlag::DegradedActive);
      logEvent(*config_, *host_, {.kind = Event::Kind::Degraded});
    } else {
      change(HealthFlag::DegradedActive, {});
      logEvent(*config_, *host_, {.kind = Event::Kind::NoLongerDegraded});
    }
    if (transition == Transition::Unchanged) transition = Transition::Changed;
  }
  config_->stats().add(Counter::Success);
  is_first_ = false;
  publish();
  countDone();
  // After what it has changed: a host that is well may come back from where others put it.
  if (upstream::OutlierMonitor* const monitor = host_->outlier()) monitor->onCheckPassed();
  wait(true, transition);
}

void Check::fail(Failure failure, bool is_retriable) {
  const Transition transition = noteFailure(failure, is_retriable);
  wait(false, transition);
}

void Check::onSaidUnwell() {
  // Of no check: one that is under way says its own.
  status_ = 0;
  change({}, HealthFlag::ExcludedImmediately);
  noteFailure(Failure::Passive, false);
}

Check::Transition Check::noteFailure(Failure failure, bool is_retriable) {
  successes_ = 0;
  Transition transition = Transition::Unchanged;
  if (!has(HealthFlag::FailedActive)) {
    const bool counts_at_once = !isOfNetwork(failure) && !is_retriable;
    if (counts_at_once || ++failures_ >= plan().unhealthy_threshold) {
      failures_ = 0;
      change({}, HealthFlag::FailedActive);
      transition = Transition::Changed;
      logEvent(*config_, *host_,
               {.kind = Event::Kind::Ejected, .failure = failure, .status = status_});
    } else {
      transition = Transition::Pending;
    }
  }
  if (has(HealthFlag::FailedActive)) {
    if (failure == Failure::NetworkTimeout) {
      change({}, HealthFlag::ActiveTimeout);
    } else {
      change(HealthFlag::ActiveTimeout, {});
    }
  }
  change(HealthFlag::PendingActive, {});
  if (is_first_ || plan().logs_failures) {
    logEvent(*config_, *host_,
             {.kind = Event::Kind::Failed,
              .failure = failure,
              .is_first = is_first_,
              .status = status_});
  }
  stats::Shard<stats::HealthCheck>& stats = config_->stats();
  stats.add(Counter::Failure);
  if (isOfNetwork(failure)) stats.add(Counter::NetworkFailure);
  if (failure == Failure::Passive) stats.add(Counter::PassiveFailure);
  is_first_ = false;
  publish();
  countDone();
  return transition;
}

void Check::change(HealthFlags cleared, HealthFlags set) {
  const HealthFlags before = flags_;
  flags_ = flags_.without(cleared) | set;
  stats::Shard<stats::HealthCheck>& stats = config_->stats();
  const auto gauge = [&](HealthFlag flag, bool counts_set, Gauge shown) {
    if (before.has(flag) == flags_.has(flag)) return;
    if (flags_.has(flag) == counts_set) {
      stats.up(shown);
    } else {
      stats.down(shown);
    }
  };
  gauge(HealthFlag::FailedActive, false, Gauge::Healthy);
  gauge(HealthFlag::DegradedActive, true, Gauge::Degraded);
}

void Check::publish() {
  const bool tells_first = !is_first_ && !is_first_published_;
  if (flags_ == published_ && !tells_first) return;
  context_.inbox.post({.cluster = config_->cluster().life(),
                       .host = host_,
                       .cleared = kCheckFlags.without(flags_),
                       .set = flags_,
                       .is_first = tells_first});
  published_ = flags_;
  is_first_published_ = true;
}

void Check::countDone() {
  if (config_->round().count()) tellRoundOver();
}

void Check::tellRoundOver() {
  context_.inbox.post({.cluster = config_->cluster().life(), .host = {}, .ends_round = true});
}

void Check::wait(bool is_well, Transition transition) {
  is_under_way_ = false;
  armIn(intervalMs(is_well, transition));
}

void Check::armIn(uint64_t ms) {
  context_.loop.timers().arm(this, togetherWithOthers(context_.loop.now() + ms, ms));
}

// A cluster that nobody has used yet is asked less often.
uint64_t Check::intervalMs(bool is_well, Transition transition) const {
  const bool is_edge = transition == Transition::Pending;
  const plan::HealthCheck& plan = config_->plan();
  uint64_t base_ms = 0;
  if (config_->hasTraffic()) {
    if (is_well) {
      base_ms = is_edge ? plan.healthy_edge_interval_ms : plan.interval_ms;
    } else {
      base_ms = is_edge ? plan.unhealthy_edge_interval_ms : plan.unhealthy_interval_ms;
    }
  } else {
    base_ms =
        is_well && !is_edge ? plan.no_traffic_healthy_interval_ms : plan.no_traffic_interval_ms;
  }
  return withJitter(base_ms, plan.interval_jitter_ms);
}

uint64_t Check::withJitter(uint64_t base_ms, uint64_t jitter_ms) const {
  uint64_t ms = base_ms;
  ms += context_.random.below(uint64_t{config_->plan().interval_jitter_percent} * base_ms / 100);
  ms += context_.random.below(jitter_ms);
  return std::max<uint64_t>(1, ms);
}

}  // namespace fairlead::health
