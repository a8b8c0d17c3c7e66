#include "upstream/worker_cluster.h"

#include <algorithm>
#include <utility>

#include "upstream/choice_counts.h"
#include "upstream/worker_clusters.h"

namespace fairlead::upstream {

using Counter = stats::Cluster::Counter;

WorkerCluster::WorkerCluster(std::shared_ptr<Cluster> cluster, UpstreamContext& context)
    : cluster_(std::move(cluster)),
      context_(context),
      measures_(cluster_->measures()),
      balancer_(cluster_->balancerSettings(), context.worker, context.random) {
  if (const auto& rules = cluster_->settings().subsets) {
    subsets_ = std::make_unique<SubsetBalancer>(*rules, cluster_->balancerSettings(), balancer_,
                                                context.worker, context.random);
  }
  if (destinationRules()) destinations_ = std::make_unique<DestinationHosts>(cluster_);
  if (!cluster_->members().empty() && context.clusters) {
    aggregate_ = std::make_unique<Aggregate>(*cluster_, *context.clusters, context.random);
  }
  asks_requests_ = goesByHash() || subsets_ || destinations_ || predicts() || namedHosts() ||
                   overrideRules() || aggregate_ != nullptr;
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
  named_hosts_.clear();
  ahead_.clear();
  by_name_.clear();
  has_names_ = false;
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
  dropUnwell();
}

// As the real server, which goes by what was found out, not by what is assigned: HTTP goes on to
// its answers, and TCP as its cluster wants it.
void WorkerCluster::dropUnwell() {
  const HealthFlags failed = HealthFlag::FailedActive | HealthFlag::FailedOutlier;
  const auto drop = [failed](HttpPool& pool) {
    const bool is_well = !pool.host().health().has(failed);
    if (pool.noteHealth(is_well) && !is_well) pool.drainConnections();
  };
  for (const auto& [host, pool] : pools_) drop(*pool);
  for (const auto& [key, pool] : special_pools_) drop(*pool);
  List<HealthFollower> rest;
  while (HealthFollower* const follower = followers_.popFront()) {
    Host* const host = follower->followedHost();
    if (host && host->health().has(failed)) {
      follower->onHostUnwell();
    } else {
      rest.pushBack(follower);
    }
  }
  rest.moveAllTo(followers_);
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
  if (goesElsewhere()) return chooseElsewhere(client, wish, nullptr);
  return poolOf(choose(wish, {}), client);
}

HttpPool* WorkerCluster::chooseHttpPool(http::Version client, const HostWish& wish,
                                        RetryHosts& retry) {
  if (goesElsewhere()) return chooseElsewhere(client, wish, &retry);
  Choice choice;
  PickContext context{.loads = hosts_ ? retry.loads(*hosts_) : nullptr};
  for (;; ++context.attempt) {
    choice = choose(wish, context);
    if (!choice.host || retry.accepts(*choice.host)) break;
    if (context.attempt + 1 == retry.choices()) break;
    countRefused(choice);
  }
  return poolOf(choice, client);
}

namespace {

// As a bit of envoy.config.core.v3.HealthStatus: what checks find goes before what the
// configuration says.
uint32_t statusBit(const Host& host) {
  using Health = plan::Host::Health;
  const HealthFlags flags = host.health();
  if (flags.has(HealthFlag::FailedActive) || flags.has(HealthFlag::FailedOutlier)) return 1u << 2;
  switch (host.settings().health) {
    case Health::Unhealthy:
      return 1u << 2;
    case Health::Draining:
      return 1u << 3;
    case Health::Timeout:
      return 1u << 4;
    case Health::Degraded:
      return 1u << 5;
    case Health::Healthy:
      break;
  }
  // What is not said is healthy here.
  return host.isDegraded() ? 1u << 5 : 1u << 0 | 1u << 1;
}

}  // namespace

Host* WorkerCluster::findByAddress(std::string_view address) {
  if (!hosts_) return nullptr;
  if (named_hosts_.empty()) {
    for (const auto& host : hosts_->hosts()) named_hosts_.emplace(host->text(), host.get());
  }
  const auto found = named_hosts_.find(address);
  return found == named_hosts_.end() ? nullptr : found->second;
}

Host* WorkerCluster::findNamed(std::string_view address) {
  Host* const host = findByAddress(address);
  return host && (settings().override_statuses & statusBit(*host)) != 0 ? host : nullptr;
}

// As the real server, which does not look at their health.
Host* WorkerCluster::nextOverride(HostOverrides& overrides) {
  while (overrides.next < overrides.hosts.size()) {
    if (Host* const host = findByAddress(overrides.hosts[overrides.next++])) return host;
  }
  return nullptr;
}

// ---- hosts of other clusters ----

Aggregate::Place WorkerCluster::elsewhere(const HostWish& wish, RetryHosts* retry) {
  if (aggregate_) return aggregate_->choose(retry);
  const std::string name = namedHosts()->cluster_prefix + std::string(wish.name);
  return {context_.clusters ? context_.clusters->find(std::string_view(name)) : nullptr, nullptr};
}

Aggregate::Place WorkerCluster::placeFor(const HostWish& wish) {
  if (!goesElsewhere()) return {this, nullptr};
  const Aggregate::Place place = elsewhere(wish);
  if (!place.member) stats().add(Counter::UpstreamCxNoneHealthy);
  return place;
}

// That there is no host is this cluster's, all else that of the one that was asked.
HttpPool* WorkerCluster::chooseElsewhere(http::Version client, const HostWish& wish,
                                         RetryHosts* retry) {
  const uint32_t choices = retry ? retry->choices() : 1;
  const Aggregate::Place place = elsewhere(wish, retry);
  for (uint32_t attempt = 0; place.member && attempt < choices; ++attempt) {
    WorkerCluster& member = *place.member;
    const Choice choice = member.choose(wish, {.loads = place.loads, .attempt = attempt});
    const bool is_last = attempt + 1 == choices;
    if (choice.host && retry && !is_last && !retry->accepts(*choice.host)) {
      member.countRefused(choice);
      continue;
    }
    countChoice(member.stats(), choice);
    if (!choice.host) break;
    return &member.poolOf(*choice.host, member.protocolFor(client));
  }
  stats().add(Counter::UpstreamCxNoneHealthy);
  return nullptr;
}

// ---- hosts with names ----

// One that is not well is asked for by nobody else.
Host* WorkerCluster::named(std::string_view name) {
  if (!std::exchange(has_names_, true)) {
    for (const auto& host : hosts_->hosts()) {
      by_name_.emplace(host->settings().hostname, host.get());
    }
  }
  const auto found = by_name_.find(name);
  if (found == by_name_.end() || found->second->health().has(kUnhealthyFlags)) return nullptr;
  return found->second;
}

Choice WorkerCluster::choose(const HostWish& wish, PickContext context) {
  if (namedHosts()) return {.host = hosts_ ? named(wish.name) : nullptr};
  if (!wish.named_host.empty()) {
    Host* const named = findNamed(wish.named_host);
    if (named || wish.is_strict) return {.host = named};
  }
  if (destinations_) {
    return {.host = wish.destination ? destinations_->at(*wish.destination) : nullptr};
  }
  if (wish.overrides) {
    if (Host* const host = nextOverride(*wish.overrides)) return {.host = host};
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
  countChoice(stats(), choice);
  if (!choice.host) stats().add(Counter::UpstreamCxNoneHealthy);
}

// Balancers without hashes draw anew; the subset stays.
void WorkerCluster::countRefused(Choice choice) {
  choice.subset = Choice::Subset::None;
  if (!goesByHash()) countChoice(stats(), choice);
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
  if (!pool) {
    pool = std::make_unique<HttpPool>(*this, host.shared_from_this(), protocol);
    pool->noteHealth(!host.health().has(HealthFlag::FailedActive | HealthFlag::FailedOutlier));
  }
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

bool WorkerCluster::admitsOther(HttpPool& pool) {
  if (pool.isBare()) return true;
  const Budget& budget = cluster_->limits(pool.isHigh() ? 1 : 0).connection_pools;
  if (!budget.isExhausted() || freePoolBeside(pool)) return true;
  stats().add(Counter::UpstreamCxPoolOverflow);
  return false;
}

bool WorkerCluster::freePoolBeside(HttpPool& pool) {
  const auto frees = [&pool](HttpPool& other) {
    const bool is_idle = other.isCounted() && other.requestCount() == 0;
    if (!is_idle || &other.host() != &pool.host() || other.isHigh() != pool.isHigh()) return false;
    other.giveUpPlace();
    return true;
  };
  const auto common = pools_.find(&pool.host());
  if (common != pools_.end() && frees(*common->second)) return true;
  return std::any_of(special_pools_.begin(), special_pools_.end(),
                     [&frees](const auto& entry) { return frees(*entry.second); });
}

std::shared_ptr<Host> WorkerCluster::chooseHost(const HostWish& wish, const PriorityLoads* loads) {
  const Choice choice = choose(wish, {.loads = loads});
  count(choice);
  return choice.host ? choice.host->shared_from_this() : nullptr;
}

}  // namespace fairlead::upstream
