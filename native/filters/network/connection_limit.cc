#include "filters/network/connection_limit.h"

#include "filters/network/gates.h"
#include "log/log.h"
#include "stats/filter_scopes.h"

namespace fairlead::filters {

using Counter = stats::ConnectionLimit::Counter;
using Gauge = stats::ConnectionLimit::Gauge;

ConnectionLimit::ConnectionLimit(const plan::ConnectionLimitFilter& plan, stats::Registry& registry,
                                 RuntimeSlots& slots)
    : plan_(plan),
      enabled_(runtimeFlag(plan.enabled, slots)),
      stats_(
          registry.create<stats::ConnectionLimit>(stats::connectionLimitScope(plan.stat_prefix))) {}

bool ConnectionLimit::tryAdd() {
  uint64_t open = open_.load(std::memory_order_relaxed);
  while (open < plan_.max_connections) {
    if (open_.compare_exchange_weak(open, open + 1, std::memory_order_relaxed)) return true;
  }
  return false;
}

net::ConnectionGate::Verdict ConnectionLimit::admit(unsigned worker, uint64_t) {
  stats::Shard<stats::ConnectionLimit>& stats = *stats_->shard(worker + 1);
  if (enabled_.value() == 0) {
    open_.fetch_add(1, std::memory_order_relaxed);
  } else if (!tryAdd()) {
    stats.add(Counter::LimitedConnections);
    log::trace(log::Component::Filter, "connection_limit: connection limiting connection");
    return {.passes = false, .delay_ms = plan_.delay_ms, .reason = "over_connection_limit"};
  }
  stats.up(Gauge::ActiveConnections);
  return {};
}

void ConnectionLimit::leave(unsigned worker) {
  open_.fetch_sub(1, std::memory_order_relaxed);
  stats_->shard(worker + 1)->down(Gauge::ActiveConnections);
}

}  // namespace fairlead::filters
