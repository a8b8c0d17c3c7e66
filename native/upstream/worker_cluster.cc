#include "upstream/worker_cluster.h"

#include <unordered_set>

namespace fairlead::upstream {

using Counter = stats::Cluster::Counter;

WorkerCluster::WorkerCluster(std::shared_ptr<Cluster> cluster, UpstreamContext& context)
    : cluster_(std::move(cluster)),
      context_(context),
      balancer_(cluster_->balancerSettings(), context.worker, context.random) {}

WorkerCluster::~WorkerCluster() = default;

void WorkerCluster::setHosts(std::shared_ptr<const HostSet> hosts) {
  // Hosts that stay are the same objects: their pools stay. Those of the others drain.
  std::unordered_set<const Host*> staying;
  for (const auto& host : hosts->hosts()) staying.insert(host.get());
  const auto drainGone = [&](const Host* host, HttpPool& pool) {
    if (staying.contains(host) || pool.isDraining()) return;
    pool.drain();
    dropEmptyPoolsSoon();
  };
  for (const auto& [host, pool] : pools_) drainGone(host, *pool);
  for (const auto& [key, pool] : special_pools_) drainGone(std::get<0>(key), *pool);
  latest_pool_ = nullptr;
  hosts_ = std::move(hosts);
  balancer_.setHosts(*hosts_);
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
  constexpr uint32_t kMillion = 1'000'000;
  if (share == 0 || context_.random.below(kMillion) >= share) return false;
  stats().add(Counter::UpstreamRqMaintenanceMode);
  return true;
}

HttpPool* WorkerCluster::chooseHttpPool(http::Version client) {
  return poolOf(balancer_.choose(), client);
}

HttpPool* WorkerCluster::chooseHttpPool(http::Version client, RetryHosts& retry) {
  Choice choice;
  for (uint32_t left = retry.choices(); left > 0; --left) {
    const PriorityLoads* const loads = hosts_ ? retry.loads(*hosts_) : nullptr;
    choice = loads ? balancer_.chooseBy(*loads) : balancer_.choose();
    if (!choice.host || retry.accepts(*choice.host)) break;
  }
  return poolOf(choice, client);
}

HttpPool* WorkerCluster::poolOf(const Choice& choice, http::Version client) {
  if (choice.panicked) stats().add(Counter::LbHealthyPanic);
  if (!choice.host) {
    stats().add(Counter::UpstreamCxNoneHealthy);
    return nullptr;
  }
  return &poolOf(*choice.host, protocolFor(client));
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

std::shared_ptr<Host> WorkerCluster::chooseHost() {
  const Choice choice = balancer_.choose();
  if (choice.panicked) stats().add(Counter::LbHealthyPanic);
  if (!choice.host) {
    stats().add(Counter::UpstreamCxNoneHealthy);
    return nullptr;
  }
  return choice.host->shared_from_this();
}

}  // namespace fairlead::upstream
