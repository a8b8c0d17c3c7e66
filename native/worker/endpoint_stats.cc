#include "worker/endpoint_stats.h"

#include <utility>
#include <vector>

#include "stats/scopes.h"

namespace fairlead::worker {

namespace {

using EndpointCounter = stats::Endpoint::Counter;
using EndpointGauge = stats::Endpoint::Gauge;
using upstream::HostCounters;

struct HostCounter {
  EndpointCounter counter;
  upstream::OwnedCounter HostCounters::* field;
};
constexpr HostCounter kEndpointCounters[] = {
    {EndpointCounter::CxConnectFail, &HostCounters::cx_connect_fail},
    {EndpointCounter::CxTotal, &HostCounters::cx_total},
    {EndpointCounter::RqError, &HostCounters::rq_error},
    {EndpointCounter::RqSuccess, &HostCounters::rq_success},
    {EndpointCounter::RqTimeout, &HostCounters::rq_timeout},
    {EndpointCounter::RqTotal, &HostCounters::rq_total},
};

}  // namespace

std::shared_ptr<EndpointStats::Block> EndpointStats::makeBlock(const upstream::Cluster& cluster,
                                                               const upstream::Host& host) {
  auto block = std::make_shared<Block>(
      stats::endpointScope(cluster.observabilityName(), host.text(), host.settings().hostname), 1);
  block->setHolders(block);
  // All of it counts as used.
  for (const auto& [counter, _] : kEndpointCounters) {
    block->addOwn(static_cast<size_t>(counter), 0);
  }
  return block;
}

void EndpointStats::publish(const upstream::Host& host, Known& known) {
  stats::Shard<stats::Endpoint>& stats = *known.block->shard(0);
  for (const auto& [counter, field] : kEndpointCounters) {
    const uint64_t now = host.sum(field);
    uint64_t& told = known.told[static_cast<size_t>(counter)];
    if (now > told) stats.add(counter, now - told);
    told = now;
  }
  stats.set(EndpointGauge::CxActive, host.sum(&HostCounters::cx_active));
  stats.set(EndpointGauge::RqActive, host.sum(&HostCounters::rq_active));
  stats.set(EndpointGauge::RqPendingActive, host.sum(&HostCounters::rq_pending_active));
  stats.set(EndpointGauge::Healthy, host.isHealthy() ? 1 : 0);
}

void EndpointStats::refresh(const ClustersByName& clusters, stats::Registry* registry) {
  std::vector<std::shared_ptr<stats::BlockBase>> blocks;
  for (const auto& [name, cluster] : clusters) {
    if (!cluster->settings().tracks_endpoints || cluster->settings().is_hidden) continue;
    for (const auto& host : cluster->hosts()->hosts()) {
      Known& known = known_[host.get()];
      // Another one may have been where this one is.
      if (known.host.lock() != host) known = {host, makeBlock(*cluster, *host), {}};
      publish(*host, known);
      blocks.push_back(known.block);
    }
  }
  std::erase_if(known_, [](const auto& entry) { return entry.second.host.expired(); });
  registry->setEndpoints(std::move(blocks));
}

}  // namespace fairlead::worker
