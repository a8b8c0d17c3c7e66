#include "worker/clusters.h"

#include <algorithm>
#include <utility>

#include "net/proxy_protocol_transport.h"
#include "stats/scopes.h"

namespace fairlead::worker {

namespace {

using ClusterGauge = stats::Cluster::Gauge;
using ClusterCounter = stats::Cluster::Counter;
using Counter = stats::ClusterManager::Counter;
using Gauge = stats::ClusterManager::Gauge;
using upstream::Cluster;
using upstream::Host;
using upstream::HostSet;

}  // namespace

Clusters::Clusters(stats::Registry& registry, unsigned workers, NameIds& ids, Retired& retired,
                   TlsSockets& tls_sockets, net::SharedTransport transport)
    : registry_(registry),
      workers_(workers),
      ids_(ids),
      retired_(retired),
      tls_sockets_(tls_sockets),
      transport_(std::move(transport)),
      stats_(registry.create<stats::ClusterManager>(stats::plainScope("cluster_manager."))) {
  const std::string manager = "thread_local_cluster_manager.";
  const auto holdInflated = [&](const stats::Scope& scope) {
    inflated_stats_.push_back(registry.create<stats::ClusterManagerThread>(scope));
  };
  holdInflated(stats::plainScope(manager + "main_thread."));
  for (unsigned i = 0; i < workers; ++i) holdInflated(stats::workerScope(manager, i));
}

Result<void> Clusters::apply(const plan::Cluster& plan, Delta* delta) {
  const std::string& name = plan.observability_name.empty() ? plan.name : plan.observability_name;
  const stats::Scope scope = stats::clusterScope(name);
  auto transport = makeTransport(plan.tls, plan.proxy_protocol, scope);
  if (!transport) return transport.error();
  auto matches = makeTransportMatches(plan, scope);
  if (!matches) return matches.error();
  auto cluster = std::make_shared<Cluster>(plan, registry_.create<stats::Cluster>(scope),
                                           std::move(transport.value()), ids_.hold(plan.name));
  cluster->setTransportMatches(std::move(matches.value()));
  addStats(*cluster);
  std::shared_ptr<Cluster>& place = clusters_[plan.name];
  stats_->shard(0)->add(place ? Counter::ClusterModified : Counter::ClusterAdded);
  auto hosts = hostsAtFirst(plan, place.get());
  if (place) retire(*place);
  retired_.add(std::exchange(place, cluster));
  showCount();
  cluster->stats().shard(0)->set(ClusterGauge::WarmingState, 0);
  if (const auto runtime = runtimes_.find(plan.name); runtime != runtimes_.end()) {
    cluster->applyRuntime(runtime->second);
  }
  put(cluster, std::move(hosts), delta);
  return {};
}

Result<net::SharedTransport> Clusters::makeTransport(
    const std::optional<plan::TlsContext>& tls,
    const std::optional<plan::ProxyProtocolSocket>& proxy_protocol, const stats::Scope& scope) {
  net::SharedTransport transport = transport_;
  if (tls) {
    auto made = tls_sockets_.make(*tls, scope);
    if (!made) return made.error();
    transport = std::move(made.value());
  }
  if (!proxy_protocol) return transport;
  return net::SharedTransport(std::make_shared<net::ProxyProtocolTransports>(
      *proxy_protocol, std::move(transport),
      registry_.create<stats::UpstreamProxyProtocol>(
          innerScope(scope, "upstream.proxyprotocol."))));
}

Result<std::vector<upstream::TransportMatch>> Clusters::makeTransportMatches(
    const plan::Cluster& plan, const stats::Scope& scope) {
  std::vector<upstream::TransportMatch> matches;
  for (const plan::TransportMatch& match : plan.transport_matches) {
    upstream::TransportMatch made;
    made.labels = match.labels;
    made.stats = registry_.create<stats::TransportMatch>(innerScope(scope, match.name + "."));
    auto transport = makeTransport(match.tls, match.proxy_protocol, scope);
    if (!transport) return transport.error();
    made.transport = std::move(transport.value());
    matches.push_back(std::move(made));
  }
  return matches;
}

// Who takes another's place and asks elsewhere for hosts has the other's until the answer comes.
std::shared_ptr<const HostSet> Clusters::hostsAtFirst(const plan::Cluster& plan,
                                                      const Cluster* before) {
  const bool will_ask = plan.is_resolved || plan.is_discovered;
  if (!before || !will_ask) return noHosts(plan.panic_threshold_pct);
  return std::make_shared<const HostSet>(*before->hosts(), plan.panic_threshold_pct);
}

// Its hosts; those of a cluster without any are many clusters'.
void Clusters::retire(const Cluster& cluster) {
  if (!cluster.hosts()->hosts().empty()) retired_.add(cluster.hosts());
}

void Clusters::addStats(Cluster& cluster) {
  if (cluster.settings().is_resolved && !resolver_stats_) {
    resolver_stats_ = registry_.create<stats::DnsCares>(stats::plainScope("dns.cares."));
  }
  const stats::Scope& own = cluster.stats().scope();
  if (cluster.settings().http2) {
    cluster.setHttp2Stats(registry_.create<stats::Http2Codec>(innerScope(own, "http2.")));
  }
  if (cluster.settings().is_discovered) cluster.keepStats(registry_.create<stats::Eds>(own));
}

bool Clusters::remove(const std::string& name, Delta* delta) {
  const auto found = clusters_.find(name);
  if (found == clusters_.end()) return false;
  ClusterChange& change = changeOf(*found->second, delta);
  change.cluster = nullptr;
  change.hosts = nullptr;
  retire(*found->second);
  retired_.add(std::move(found->second));
  clusters_.erase(found);
  stats_->shard(0)->add(Counter::ClusterRemoved);
  showCount();
  return true;
}

Result<void> Clusters::assign(plan::Assignment plan, Delta* delta) {
  const auto found = clusters_.find(plan.cluster_name);
  if (found == clusters_.end()) return Error{"there is no cluster of this name"};
  Cluster& cluster = *found->second;
  const HostSet& before = *cluster.hosts();
  const uint32_t overprovisioning_pct = plan.overprovisioning_factor_pct;
  const auto all = std::make_shared<const std::vector<plan::Host>>(std::move(plan.hosts));
  upstream::KnownHosts known(before.hosts());
  Hosts hosts;
  hosts.reserve(all->size());
  bool is_same = !all->empty();
  for (const plan::Host& host_plan : *all) {
    std::shared_ptr<Host> host = known.take(hosts.size(), host_plan);
    is_same = is_same && host && upstream::isSameHost(host->settings(), host_plan);
    if (!host) {
      host = std::make_shared<Host>(upstream::HostSettings(all, &host_plan), workers_);
      countTransport(cluster, host_plan);
    }
    hosts.push_back(std::move(host));
  }
  // Nothing is new: balancers go on where they are.
  if (is_same && before.isOf(hosts, overprovisioning_pct)) return {};
  for (size_t i = 0; i < hosts.size(); ++i) {
    hosts[i]->setSettings(upstream::HostSettings(all, &(*all)[i]));
  }
  auto set = std::make_shared<const HostSet>(
      std::move(hosts), all, cluster.settings().panic_threshold_pct, overprovisioning_pct);
  countMembers(cluster, *set);
  retire(cluster);
  put(found->second, std::move(set), delta);
  return {};
}

void Clusters::countTransport(upstream::Cluster& cluster, const plan::Host& host) {
  if (const upstream::TransportMatch* match = cluster.transportMatch(host)) {
    match->stats->shard(0)->add(stats::TransportMatch::Counter::TotalMatchCount);
  } else {
    cluster.stats().shard(0)->add(ClusterCounter::DefaultTotalMatchCount);
  }
}

void Clusters::countMembers(Cluster& cluster, const HostSet& hosts) {
  stats::Shard<stats::Cluster>& stats = *cluster.stats().shard(0);
  const uint64_t changes = hosts.prioritiesOtherThan(*cluster.hosts());
  if (changes > 0) stats.add(ClusterCounter::MembershipChange, changes);
  // Those of a cluster that never had a host stay gauges that nobody touched.
  if (changes == 0 && !stats.isSet(ClusterGauge::MembershipTotal)) return;
  stats.set(ClusterGauge::MembershipTotal, hosts.hosts().size());
  stats.set(ClusterGauge::MembershipHealthy, hosts.healthyCount());
  stats.set(ClusterGauge::MembershipDegraded, hosts.degradedCount());
  stats.set(ClusterGauge::MembershipExcluded, hosts.excludedCount());
}

// Until an assignment comes there are no hosts, which is reason enough to panic.
std::shared_ptr<const HostSet> Clusters::noHosts(uint32_t panic_threshold_pct) {
  std::shared_ptr<const HostSet>& none = no_hosts_[panic_threshold_pct];
  if (!none) none = std::make_shared<const HostSet>(Hosts(), nullptr, panic_threshold_pct, 100);
  return none;
}

void Clusters::put(const std::shared_ptr<Cluster>& cluster, std::shared_ptr<const HostSet> hosts,
                   Delta* delta) {
  ClusterChange& change = changeOf(*cluster, delta);
  change.cluster = cluster;
  change.hosts = hosts;
  cluster->setHosts(std::move(hosts));
}

ClusterChange& Clusters::changeOf(const Cluster& cluster, Delta* delta) {
  const uint32_t id = cluster.id();
  const auto [place, is_new] = in_delta_.try_emplace(id, delta->size());
  if (is_new) delta->push_back(ClusterChange{.id = id, .cluster = nullptr, .hosts = nullptr});
  return std::get<ClusterChange>((*delta)[place->second]);
}

void Clusters::applyRuntime(const plan::ClusterRuntime& runtime) {
  if (runtime.limits.empty() && runtime.maintenance_millionths == 0) {
    runtimes_.erase(runtime.cluster_name);
  } else {
    runtimes_[runtime.cluster_name] = runtime;
  }
  const auto cluster = clusters_.find(runtime.cluster_name);
  if (cluster != clusters_.end()) cluster->second->applyRuntime(runtime);
}

void Clusters::refreshGauges() {
  for (const auto& [name, cluster] : clusters_) {
    for (uint32_t priority = 0; priority < 2; ++priority) {
      cluster->publishLimits(priority, *cluster->stats().shard(0));
    }
  }
}

void Clusters::showStarted() { stats_->shard(0)->set(Gauge::WarmingClusters, 0); }

// No thread waits for the first request before it knows a cluster.
void Clusters::showCount() {
  stats_->shard(0)->set(Gauge::ActiveClusters, clusters_.size());
  for (const auto& inflated : inflated_stats_) {
    inflated->shard(0)->set(stats::ClusterManagerThread::Gauge::ClustersInflated, clusters_.size());
  }
}

}  // namespace fairlead::worker
