#include "upstream/cluster.h"

#include <algorithm>
#include <atomic>

namespace fairlead::upstream {

namespace {

// What a budget is that only one runtime value makes one.
constexpr plan::RetryBudget kDefaultRetryBudget{.share_millionths = 200'000, .min_concurrency = 3};

}  // namespace

ClusterLife nextClusterLife() {
  static std::atomic<uint64_t> last{0};
  return ClusterLife{last.fetch_add(1, std::memory_order_relaxed) + 1};
}

bool Cluster::tellsClients(const plan::Cluster& settings) {
  return settings.proxy_protocol ||
         std::any_of(settings.transport_matches.begin(), settings.transport_matches.end(),
                     [](const plan::TransportMatch& match) { return !!match.proxy_protocol; });
}

bool Cluster::fitsPreconnect(const plan::Host& host) const {
  std::optional<match::MetadataText> found;
  for (const plan::MetadataSpace& space : host.metadata) {
    if (space.name != preconnect_condition_->space()) continue;
    for (const plan::MetadataValue& value : space.values) {
      if (value.path == preconnect_condition_->path()) found = {value.text, value.is_json};
    }
  }
  return preconnect_condition_->holds(found);
}

HostSetRules Cluster::hostSetRules() const {
  HostSetRules rules;
  rules.panic_threshold_pct =
      static_cast<uint32_t>(std::min<uint64_t>(100, panic_threshold_pct_.value()));
  rules.groups_localities =
      settings_.weighs_localities || settings_.zones.has_value() || settings_.locality_loads;
  if (settings_.zones) {
    rules.here = {settings_.zones->region, settings_.zones->zone, settings_.zones->sub_zone};
  }
  if (const auto& loads = settings_.locality_loads) {
    rules.here = {loads->region, loads->zone, loads->sub_zone};
  }
  return rules;
}

void Cluster::applyRuntime(const plan::ClusterRuntime& runtime) {
  for (size_t i = 0; i < 2 && i < settings_.limits.size(); ++i) {
    plan::CircuitLimits limits = settings_.limits[i];
    if (i < runtime.limits.size()) {
      const plan::LimitOverrides& other = runtime.limits[i];
      limits.max_connections = other.max_connections.value_or(limits.max_connections);
      limits.max_pending_requests =
          other.max_pending_requests.value_or(limits.max_pending_requests);
      limits.max_requests = other.max_requests.value_or(limits.max_requests);
      limits.max_retries = other.max_retries.value_or(limits.max_retries);
      if (other.max_connection_pools) limits.max_connection_pools = other.max_connection_pools;
      if (other.retry_share_millionths || other.min_retry_concurrency) {
        plan::RetryBudget budget = limits.retry_budget.value_or(kDefaultRetryBudget);
        budget.share_millionths = other.retry_share_millionths.value_or(budget.share_millionths);
        budget.min_concurrency = other.min_retry_concurrency.value_or(budget.min_concurrency);
        limits.retry_budget = budget;
      }
      if (limits.retry_budget && other.retry_interval_ms) {
        limits.retry_budget->interval_ms = *other.retry_interval_ms;
      }
    }
    limits_[i].configure(limits);
  }
  maintenance_.store(runtime.maintenance_millionths, std::memory_order_relaxed);
}

void Cluster::countTransport(const TransportMatch* match, unsigned shard) {
  if (match) {
    match->stats->shard(shard)->add(stats::TransportMatch::Counter::TotalMatchCount);
  } else {
    stats_->shard(shard)->add(stats::Cluster::Counter::DefaultTotalMatchCount);
  }
}

void Cluster::publishLimits(uint32_t priority, stats::Shard<stats::Cluster>& stats) const {
  using Gauge = stats::Cluster::Gauge;
  const Limits& limits = limits_[priority];
  const bool high = priority == 1;
  // A breaker of a resource that nobody ever took stays a gauge that nobody touched, closed even
  // where nobody may take any.
  const auto open = [&stats](Gauge normal, Gauge high_one, bool is_high, const Budget& budget) {
    const Gauge gauge = is_high ? high_one : normal;
    if (budget.isTouched()) stats.set(gauge, budget.isExhausted() ? 1 : 0);
  };
  open(Gauge::CircuitBreakersDefaultCxOpen, Gauge::CircuitBreakersHighCxOpen, high,
       limits.connections);
  open(Gauge::CircuitBreakersDefaultCxPoolOpen, Gauge::CircuitBreakersHighCxPoolOpen, high,
       limits.connection_pools);
  open(Gauge::CircuitBreakersDefaultRqPendingOpen, Gauge::CircuitBreakersHighRqPendingOpen, high,
       limits.pending_requests);
  open(Gauge::CircuitBreakersDefaultRqOpen, Gauge::CircuitBreakersHighRqOpen, high,
       limits.requests);
  // As the real server: by the limit of retries, also where a share counts in its place.
  open(Gauge::CircuitBreakersDefaultRqRetryOpen, Gauge::CircuitBreakersHighRqRetryOpen, high,
       limits.retries);
  if (priority >= settings_.limits.size() || !settings_.limits[priority].track_remaining) return;
  const auto remaining = [](const Budget& budget) {
    return budget.max() > budget.used() ? budget.max() - budget.used() : 0;
  };
  const auto set = [&stats, high](Gauge normal, Gauge high_one, uint64_t value) {
    stats.set(high ? high_one : normal, value);
  };
  set(Gauge::CircuitBreakersDefaultRemainingCx, Gauge::CircuitBreakersHighRemainingCx,
      remaining(limits.connections));
  set(Gauge::CircuitBreakersDefaultRemainingPending, Gauge::CircuitBreakersHighRemainingPending,
      remaining(limits.pending_requests));
  set(Gauge::CircuitBreakersDefaultRemainingRq, Gauge::CircuitBreakersHighRemainingRq,
      remaining(limits.requests));
  set(Gauge::CircuitBreakersDefaultRemainingRetries, Gauge::CircuitBreakersHighRemainingRetries,
      // As the real server: a share has no such number, once somebody has asked for it.
      limits.wasRetryShareAsked() ? 0 : remaining(limits.retries));
  set(Gauge::CircuitBreakersDefaultRemainingCxPools, Gauge::CircuitBreakersHighRemainingCxPools,
      remaining(limits.connection_pools));
}

void Cluster::clearLimits(stats::Shard<stats::Cluster>& stats) const {
  using Gauge = stats::Cluster::Gauge;
  struct Gauges {
    Budget Limits::* budget;
    // By priority.
    Gauge open[2];
    Gauge remaining[2];
  };
  static constexpr Gauges kAll[] = {
      {&Limits::connections,
       {Gauge::CircuitBreakersDefaultCxOpen, Gauge::CircuitBreakersHighCxOpen},
       {Gauge::CircuitBreakersDefaultRemainingCx, Gauge::CircuitBreakersHighRemainingCx}},
      {&Limits::pending_requests,
       {Gauge::CircuitBreakersDefaultRqPendingOpen, Gauge::CircuitBreakersHighRqPendingOpen},
       {Gauge::CircuitBreakersDefaultRemainingPending, Gauge::CircuitBreakersHighRemainingPending}},
      {&Limits::requests,
       {Gauge::CircuitBreakersDefaultRqOpen, Gauge::CircuitBreakersHighRqOpen},
       {Gauge::CircuitBreakersDefaultRemainingRq, Gauge::CircuitBreakersHighRemainingRq}},
      {&Limits::retries,
       {Gauge::CircuitBreakersDefaultRqRetryOpen, Gauge::CircuitBreakersHighRqRetryOpen},
       {Gauge::CircuitBreakersDefaultRemainingRetries, Gauge::CircuitBreakersHighRemainingRetries}},
      {&Limits::connection_pools,
       {Gauge::CircuitBreakersDefaultCxPoolOpen, Gauge::CircuitBreakersHighCxPoolOpen},
       {Gauge::CircuitBreakersDefaultRemainingCxPools, Gauge::CircuitBreakersHighRemainingCxPools}},
  };
  const bool had_pools = activeRequests() == 0 && (limits_[0].connection_pools.isTouched() ||
                                                   limits_[1].connection_pools.isTouched());
  for (const Gauges& gauges : kAll) {
    // As in the real server, pools go of both priorities, whichever they were of.
    const bool goes_for_both = gauges.budget == &Limits::connection_pools && had_pools;
    for (size_t i = 0; i < 2; ++i) {
      const bool is_touched = (limits_[i].*gauges.budget).isTouched();
      if (is_touched || goes_for_both) stats.set(gauges.open[i], 0);
      stats.unset(gauges.remaining[i]);
    }
  }
}

}  // namespace fairlead::upstream
