#include "upstream/worker_cluster.h"

#include <algorithm>
#include <utility>

namespace fairlead::upstream {

using Counter = stats::Cluster::Counter;

WorkerCluster::WorkerCluster(std::shared_ptr<Cluster> cluster, UpstreamContext& context)
    : cluster_(std::move(cluster)),
      context_(context),
      balancer_(cluster_->balancerSettings(), context.worker, context.random) {
  if (const auto& rules = cluster_->settings().subsets) {
    subsets_ = std::make_unique<SubsetBalancer>(*rules, cluster_->balancerSettings(), balancer_,
                                                context.worker, context.random);
  }
  if (destinationRules()) destinations_ = std::make_unique<DestinationHosts>(cluster_);
  asks_requests_ = goesByHash() || subsets_ || destinations_ || predicts();
}

WorkerCluster::~WorkerCluster() = default;

bool WorkerCluster::hasOtherHosts(const std::unordered_set<const Host*>& than) const {
  return hosts_->hosts().size() != than.size() ||
         std::any_of(hosts_->hosts().begin(), hosts_->hosts().end(),
                     [&than](const auto& host) { return !than.contains(host.get()); });
}

void WorkerCluster::setHosts(std::shared_ptr<const HostSet> hosts,
                             std::shared_ptr<const HostSet> local) {
  // Hosts that stay are the same objects: their pools stay. Those of the others drain.
  std::unordered_set<const Host*> staying;
  for (const auto& host : hosts->hosts()) staying.insert(host.get());
  const auto drainGone = [&](const Host* host, HttpPool& pool) {
    if (staying.contains(host) || pool.isDraining()) return;
    if (destinations_ && destinations_->isNew(host)) return;
    pool.drain();
    dropEmptyPoolsSoon();
  };
  for (const auto& [host, pool] : pools_) drainGone(host, *pool);
  for (const auto& [key, pool] : special_pools_) drainGone(std::get<0>(key), *pool);
  latest_pool_ = nullptr;
  ahead_.clear();
  if (settings().drains_on_host_change && hosts_ && hasOtherHosts(staying)) {
    for (const auto& [host, pool] : pools_) pool->drainConnections();
    for (const auto& [key, pool] : special_pools_) pool->drainConnections();
  }
  // What they replace must outlive the balancer's last look at it.
  const std::shared_ptr<const HostSet> before = std::exchange(hosts_, std::move(hosts));
  local_hosts_ = std::move(local);
  balancer_.setHosts(*hosts_, local_hosts_.get());
  if (subsets_) subsets_->setHosts(*hosts_, local_hosts_.get());
  if (destinations_) destinations_->setHosts(*hosts_);
}

void WorkerCluster::setLocalHosts(std::shared_ptr<const HostSet> local) {
  local_hosts_ = std::move(local);
  balancer_.setLocalHosts(local_hosts_.get());
  if (subsets_) subsets_->setLocalHosts(local_hosts_.get());
}

void WorkerCluster::drain() {
  for (const auto& [host, pool] : pools_) pool->drain();
  for (const auto& [key, pool] : special_pools_) pool->drain();
  latest_pool_ = nullptr;
  onDeferred();
}

void WorkerCluster::onDeferred() {
  const auto isOver = [](const auto& entry) {
    return entry.second->goesWhenEmpty() && entry.second->isEmpty();
  };
  std::erase_if(pools_, isOver);
  std::erase_if(special_pools_, isOver);
  tellIfEmpty();
}

bool WorkerCluster::isRefusingForMaintenance() {
  const uint32_t share = cluster_->maintenanceShare();
  if (share == 0 || !context_.random.draws(share)) return false;
  stats().add(Counter::UpstreamRqMaintenanceMode);
  return true;
}

HttpPool* WorkerCluster::chooseHttpPool(http::Version client) {
  return poolOf(asks_requests_ ? choose({}, {}) : balancer_.choose(), client);
}

HttpPool* WorkerCluster::chooseHttpPool(http::Version client, const HostWish& wish) {
  return poolOf(choose(wish, {}), client);
}

HttpPool* WorkerCluster::chooseHttpPool(http::Version client, const HostWish& wish,
                                        RetryHosts& retry) {
  Choice choice;
  PickContext context{.loads = hosts_ ? retry.loads(*hosts_) : nullptr};
  for (; context.attempt < retry.choices(); ++context.attempt) {
    choice = choose(wish, context);
    if (!choice.host || retry.accepts(*choice.host)) break;
  }
  return poolOf(choice, client);
}

Choice WorkerCluster::choose(const HostWish& wish, PickContext context) {
  if (destinations_) {
    return {.host = wish.destination ? destinations_->at(*wish.destination) : nullptr};
  }
  if (goesByHash()) {
    context.hash = wish.hash;
    context.active_requests = cluster_->activeRequests();
  }
  if (!ahead_.empty() && !context.loads) {
    const Choice choice = ahead_.front();
    ahead_.pop_front();
    return choice;
  }
  return subsets_ ? subsets_->choose(context, wish.criteria) : balancer_.choose(context);
}

// ---- connections made ahead ----

Host* WorkerCluster::chooseAhead() {
  using Kind = plan::Cluster::Balancer;
  // Who has the fewest requests by then, nobody knows.
  if (goesByHash() || subsets_ || !hosts_ || settings().balancer == Kind::LeastRequest) {
    return nullptr;
  }
  size_t healthy = 0;
  for (const PriorityHosts& priority : hosts_->priorities()) healthy += priority.healthy.size();
  if (ahead_.size() >= healthy) return nullptr;
  const Choice choice = balancer_.choose();
  if (choice.host) ahead_.push_back(choice);
  return choice.host;
}

void WorkerCluster::preconnect(http::ClientProtocol protocol, const PoolUse& use) {
  // At one occasion, as the real server.
  constexpr int kMost = 3;
  const uint64_t millionths = settings().predictive_preconnect_millionths;
  const auto forEachPool = [this](auto visit) {
    for (const auto& [host, pool] : pools_) visit(*pool);
    for (const auto& [key, pool] : special_pools_) visit(*pool);
  };
  for (int i = 0; i < kMost; ++i) {
    uint64_t requests = 1;
    uint64_t active = 0;
    forEachPool([&](HttpPool& pool) {
      requests += pool.requestCount();
      active += pool.activeCount();
    });
    const bool is_short = isShortOfStreams(millionths, requests, active, [&](uint64_t enough) {
      uint64_t room = 0;
      forEachPool([&](HttpPool& pool) {
        if (room < enough) room += pool.roomFor(enough - room);
      });
      return room;
    });
    if (!is_short) return;
    Host* const host = chooseAhead();
    if (!host || !poolOf(poolOf(*host, protocol), use).preconnect(millionths)) return;
  }
}

HttpPool* WorkerCluster::poolOf(const Choice& choice, http::Version client) {
  if (!choice.host || choice.isCounted()) count(choice);
  return choice.host ? &poolOf(*choice.host, protocolFor(client)) : nullptr;
}

void WorkerCluster::count(const Choice& choice) {
  using Verdict = ZoneRouting::Verdict;
  if (choice.panicked) stats().add(Counter::LbHealthyPanic);
  if (choice.local_cluster_panics) stats().add(Counter::LbLocalClusterNotOk);
  switch (choice.zone) {
    case Verdict::None:
      break;
    case Verdict::AllDirectly:
      stats().add(Counter::LbZoneRoutingAllDirectly);
      break;
    case Verdict::Sampled:
      stats().add(Counter::LbZoneRoutingSampled);
      break;
    case Verdict::NoCapacityLeft:
      stats().add(Counter::LbZoneNoCapacityLeft);
      [[fallthrough]];
    case Verdict::CrossZone:
      stats().add(Counter::LbZoneRoutingCrossZone);
      break;
  }
  switch (choice.subset) {
    case Choice::Subset::None:
      break;
    case Choice::Subset::Selected:
      stats().add(Counter::LbSubsetsSelected);
      break;
    case Choice::Subset::Fallback:
      stats().add(Counter::LbSubsetsFallback);
      break;
    case Choice::Subset::Panic:
      stats().add(Counter::LbSubsetsFallbackPanic);
      break;
  }
  if (!choice.host) stats().add(Counter::UpstreamCxNoneHealthy);
}

http::ClientProtocol WorkerCluster::protocolFor(http::Version client) const {
  using Protocol = plan::Cluster::Protocol;
  switch (settings().protocol) {
    case Protocol::Http1:
      break;
    case Protocol::Http2:
      return http::ClientProtocol::Http2;
    case Protocol::ByAlpn:
      return http::ClientProtocol::ByAlpn;
    case Protocol::OfClient:
      if (client == http::Version::Http2) return http::ClientProtocol::Http2;
      break;
  }
  return http::ClientProtocol::Http1;
}

HttpPool& WorkerCluster::poolOf(Host& host, http::ClientProtocol protocol) {
  if (latest_pool_ && &latest_pool_->host() == &host && latest_pool_->protocol() == protocol) {
    return *latest_pool_;
  }
  // The others of those that may speak either have a place of their own.
  const bool is_other = settings().protocol == plan::Cluster::Protocol::OfClient &&
                        protocol == http::ClientProtocol::Http2;
  std::unique_ptr<HttpPool>& pool =
      is_other ? special_pools_[{&host, std::string(), protocol}] : pools_[&host];
  if (!pool) pool = std::make_unique<HttpPool>(*this, host.shared_from_this(), protocol);
  latest_pool_ = pool.get();
  return *pool;
}

HttpPool& WorkerCluster::poolOf(HttpPool& chosen, const PoolUse& use) {
  if (use.isCommon()) return chosen;
  Host& host = chosen.host();
  const http::ClientProtocol protocol = chosen.protocol();
  std::unique_ptr<HttpPool>& pool = special_pools_[{&host, use.key(), protocol}];
  if (!pool) pool = std::make_unique<HttpPool>(*this, host.shared_from_this(), protocol, use);
  return *pool;
}

std::shared_ptr<Host> WorkerCluster::chooseHost(const HostWish& wish) {
  const Choice choice = choose(wish, {});
  count(choice);
  return choice.host ? choice.host->shared_from_this() : nullptr;
}

}  // namespace fairlead::upstream
