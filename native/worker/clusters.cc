#include "worker/clusters.h"

#include <utility>

#include "http/http11_proxy_transport.h"
#include "net/proxy_protocol_transport.h"
#include "stats/scopes.h"
#include "upstream/hash_tables.h"
#include "upstream/internal_transports.h"
#include "upstream/subset_index.h"
#include "worker/stats_settings.h"
#include "worker/tlv_formats.h"

namespace fairlead::worker {

namespace {

using ClusterGauge = stats::Cluster::Gauge;
using ClusterCounter = stats::Cluster::Counter;
using Counter = stats::ClusterManager::Counter;
using Gauge = stats::ClusterManager::Gauge;
using upstream::Cluster;
using upstream::Host;
using upstream::HostSet;
using upstream::OutlierDetector;
using SharedWatch = std::shared_ptr<upstream::OutlierWatch>;

// Of a cluster in whose place comes another: every thread's are gone.
void forgetSubsets(Cluster& before, uint64_t threads) {
  const upstream::SubsetIndex* const subsets = before.hosts()->subsets();
  if (!subsets) return;
  stats::Shard<stats::Cluster>& stats = *before.stats().shard(0);
  if (subsets->size() > 0) stats.add(ClusterCounter::LbSubsetsRemoved, subsets->size() * threads);
  if (stats.isSet(ClusterGauge::LbSubsetsActive)) stats.set(ClusterGauge::LbSubsetsActive, 0);
  stats.unset(ClusterGauge::LbSubsetsSingleHostPerSubsetDuplicate);
}

SharedWatch watchOf(const Cluster& cluster) {
  return cluster.outlierDetector() ? cluster.outlierDetector()->watch() : nullptr;
}

}  // namespace

Clusters::Clusters(stats::Registry& registry, unsigned workers, NameIds& ids, Retired& retired,
                   TlsSockets& tls_sockets, net::SharedTransport transport, RuntimeSlots& slots,
                   log_files::LogFiles& logs, health::Checker& checker,
                   std::shared_ptr<upstream::HealthInbox> health, std::function<void()> wake,
                   std::string zone)
    : registry_(registry),
      workers_(workers),
      zone_(std::move(zone)),
      ids_(ids),
      retired_(retired),
      tls_sockets_(tls_sockets),
      transport_(std::move(transport)),
      slots_(slots),
      logs_(logs),
      checker_(checker),
      health_(std::move(health)),
      outliers_(registry, slots, wake),
      destinations_(workers, std::move(wake)),
      locality_loads_(registry),
      stats_(registry.create<stats::ClusterManager>(stats::plainScope("cluster_manager."))),
      windows_(stats_) {
  const std::string manager = "thread_local_cluster_manager.";
  const auto holdInflated = [&](const stats::Scope& scope) {
    inflated_stats_.push_back(registry.create<stats::ClusterManagerThread>(scope));
  };
  holdInflated(stats::plainScope(manager + "main_thread."));
  for (unsigned i = 0; i < workers; ++i) holdInflated(stats::workerScope(manager, i));
  showCount();
  showWaiting();
}

Result<void> Clusters::apply(const plan::Cluster& plan, Delta* delta) {
  auto made = make(plan);
  if (!made) return made.error();
  const bool is_known = clusters_.contains(plan.name) || waiting_.contains(plan.name);
  if (!plan.is_hidden) {
    stats_->shard(0)->add(is_known ? Counter::ClusterModified : Counter::ClusterAdded);
  }
  forgetWaiting(plan.name);
  if (!plan.awaits_hosts) return putInPlace(std::move(made.value()), delta);
  wait(std::move(made.value()));
  return {};
}

Result<Clusters::Made> Clusters::make(const plan::Cluster& plan) {
  const std::string& name = plan.observability_name.empty() ? plan.name : plan.observability_name;
  stats::Scope scope = stats::clusterScope(name);
  // Who is checked for others is known to them under a name.
  scope.is_unseen = plan.is_hidden && plan.observability_name.empty();
  const auto chosen =
      chooseStats(plan.stats_choice ? &*plan.stats_choice : nullptr, scope.prefix, &registry_);
  if (!chosen) return chosen.error();
  // Another's whose place it is to take are its own as well, but for what is counted anew.
  const auto own_stats = registry_.renew<stats::Cluster>(scope);
  auto transport = makeTransport(plan, scope, own_stats);
  if (!transport) return transport.error();
  auto choice = makeTransportChoice(plan, scope, own_stats);
  if (!choice) return choice.error();
  auto cluster = std::make_shared<Cluster>(plan, own_stats, std::move(transport.value()),
                                           ids_.hold(plan.name), &slots_);
  cluster->setTransportChoice(std::move(choice.value()));
  if (plan.preconnect_condition) {
    auto condition = match::MetadataCondition::build(*plan.preconnect_condition);
    if (!condition) return condition.error();
    cluster->setPreconnectCondition(std::move(condition.value()));
  }
  std::vector<NameIds::Ref> members;
  for (const std::string& member : plan.members) members.push_back(ids_.hold(member));
  cluster->setMembers(std::move(members));
  if (names_ && plan.named_hosts) cluster->setNames(names_->find(plan.named_hosts->cache));
  if (plan.request_rules && build_rules_) {
    auto rules = build_rules_(*plan.request_rules, scope);
    if (!rules) return rules.error();
    cluster->setRequestRules(std::move(rules.value()));
  }
  addStats(*cluster);
  auto checks = makeChecks(cluster);
  if (!checks) return checks.error();
  std::shared_ptr<const health::LoadConfig> questions;
  if (plan.load_questions) questions = health::LoadConfig::build(cluster, registry_, workers_);
  return Made{std::move(cluster), std::move(checks.value()), std::move(questions)};
}

Result<void> Clusters::putInPlace(Made made, Delta* delta) {
  const std::shared_ptr<Cluster> cluster = std::move(made.cluster);
  const plan::Cluster& plan = cluster->settings();
  std::shared_ptr<Cluster>& place = clusters_[plan.name];
  const bool has_waited = made.has_waited;
  if (place && !has_waited) forgetChecks(*place, *cluster);
  if (!has_waited) outliers_.attach(*cluster, upstream::hostClockMs());
  outliers_.follow(*cluster);
  // Hosts that it has put out are as others to whoever takes its place. After that one has one of
  // its own: what both count goes on.
  if (place) place->setOutlierDetector(nullptr);
  if (place) forgetSubsets(*place, workers_ + 1);
  destinations_.attach(*cluster, upstream::hostClockMs());
  load_weights_.attach(*cluster, upstream::hostClockMs());
  locality_loads_.attach(*cluster, upstream::hostClockMs());
  auto hosts = has_waited ? ownHosts(*cluster) : hostsAtFirst(*cluster, place.get());
  if (place) {
    place->clearLimits(*place->stats().shard(0));
    retire(*place);
    stopChecks(*place);
    if (place->settings().is_hidden) --hidden_;
  }
  if (plan.is_hidden) ++hidden_;
  windows_.forget(plan.name);
  if (plan.destination_hosts || plan.named_hosts || has_waited) {
    unready_.erase(cluster->id());
  } else {
    unready_.insert(cluster->id());
  }
  retired_.add(std::exchange(place, cluster));
  warming_.erase(plan.name);
  showCount();
  cluster->stats().shard(0)->set(ClusterGauge::WarmingState, 0);
  if (const auto runtime = runtimes_.find(plan.name); runtime != runtimes_.end()) {
    cluster->applyRuntime(runtime->second);
  }
  put(cluster, std::move(hosts), delta);
  if (made.checks) checks_[cluster.get()] = std::move(made.checks);
  if (made.questions) {
    questions_[cluster->id()] = std::move(made.questions);
  } else {
    stopQuestions(cluster->id());
  }
  if (has_waited && !cluster->hosts()->hosts().empty()) countBalancing(*cluster);
  return check(*cluster);
}

template <typename Socket>
Result<net::SharedTransport> Clusters::makeTransport(
    const Socket& plan, const stats::Scope& scope,
    const std::shared_ptr<stats::Block<stats::Cluster>>& own_stats) {
  net::SharedTransport transport = transport_;
  if (plan.tls) {
    auto made = tls_sockets_.make(*plan.tls, scope);
    if (!made) return made.error();
    transport = std::move(made.value());
  }
  if (plan.internal_upstream) {
    return net::SharedTransport(std::make_shared<upstream::InternalTransports>(
        *plan.internal_upstream, std::move(transport),
        registry_.create<stats::InternalUpstream>(innerScope(scope, "internal_upstream."))));
  }
  if (plan.http11_proxy) {
    std::optional<net::Address> proxy;
    if (plan.http11_proxy->address) proxy = net::Address::fromPlan(*plan.http11_proxy->address);
    return net::SharedTransport(
        std::make_shared<http::Http11ProxyTransports>(std::move(proxy), std::move(transport)));
  }
  if (!plan.proxy_protocol) return transport;
  return net::SharedTransport(std::make_shared<net::ProxyProtocolTransports>(
      *plan.proxy_protocol, std::move(transport),
      registry_.create<stats::UpstreamProxyProtocol>(innerScope(scope, "upstream.proxyprotocol.")),
      own_stats, TlvFormats::build(*plan.proxy_protocol)));
}

Result<upstream::TransportChoice> Clusters::makeTransportChoice(
    const plan::Cluster& plan, const stats::Scope& scope,
    const std::shared_ptr<stats::Block<stats::Cluster>>& own_stats) {
  std::vector<upstream::TransportMatch> matches;
  for (const plan::TransportMatch& match : plan.transport_matches) {
    upstream::TransportMatch made;
    made.labels = match.labels;
    made.stats = registry_.create<stats::TransportMatch>(innerScope(scope, match.name + "."));
    auto transport = makeTransport(match, scope, own_stats);
    if (!transport) return transport.error();
    made.transport = std::move(transport.value());
    matches.push_back(std::move(made));
  }
  return upstream::TransportChoice::build(std::move(matches), plan.transport_tree);
}

// Who takes another's place and asks elsewhere for hosts has the other's until the answer comes.
std::shared_ptr<const HostSet> Clusters::hostsAtFirst(Cluster& cluster, const Cluster* before) {
  const plan::Cluster& plan = cluster.settings();
  upstream::HostSetRules rules = cluster.hostSetRules();
  const bool will_ask = plan.is_resolved || plan.is_discovered;
  if (!before || !will_ask || before->hosts()->hosts().empty()) {
    return noHosts(rules.panic_threshold_pct);
  }
  const HostSet& others = *before->hosts();
  rules.overprovisioning_pct = others.rules().overprovisioning_pct;
  rules.weighs_health = others.rules().weighs_health;
  auto set = std::make_shared<HostSet>(others.hosts(), others.settings(), rules);
  prepareBalancing(cluster, set.get());
  return set;
}

void Clusters::prepareBalancing(Cluster& cluster, HostSet* set) {
  if (cluster.settings().subsets) {
    // Its sets share its priorities' rules.
    set->setSubsets(
        std::make_shared<const upstream::SubsetIndex>(cluster.settings(), *set, set->rules()));
    countSubsets(cluster, set->subsets());
  }
  if (cluster.settings().locality_loads) {
    locality_loads_.prepare(cluster, set, upstream::hostClockMs());
    countLocalities(cluster, *set);
  }
  upstream::HashTable::Figures figures = buildHashTables(cluster.settings(), set);
  // As the real server, whose subsets all say theirs, one after the other.
  if (set->subsets() && set->subsets()->figures().size > 0) figures = set->subsets()->figures();
  // Of a table without hosts nothing is shown: what was there stays.
  if (figures.size == 0) return;
  if (const auto& stats = cluster.ringStats()) {
    using Ring = stats::RingHashLb::Gauge;
    stats->shard(0)->set(Ring::Size, figures.size);
    stats->shard(0)->set(Ring::MinHashesPerHost, figures.min_per_host);
    stats->shard(0)->set(Ring::MaxHashesPerHost, figures.max_per_host);
  }
  if (const auto& stats = cluster.maglevStats()) {
    using Maglev = stats::MaglevLb::Gauge;
    stats->shard(0)->set(Maglev::MinEntriesPerHost, figures.min_per_host);
    stats->shard(0)->set(Maglev::MaxEntriesPerHost, figures.max_per_host);
  }
}

// Its hosts; those of a cluster without any are many clusters'.
void Clusters::retire(const Cluster& cluster) {
  if (!cluster.hosts()->hosts().empty()) retired_.add(cluster.hosts());
}

bool Clusters::remove(const std::string& name, Delta* delta) {
  const bool has_waited = waiting_.contains(name);
  forgetWaiting(name);
  const auto found = clusters_.find(name);
  if (found == clusters_.end()) {
    if (has_waited) stats_->shard(0)->add(Counter::ClusterRemoved);
    return has_waited;
  }
  ClusterChange& change = changeOf(*found->second, delta);
  change.cluster = nullptr;
  change.hosts = nullptr;
  if (found->second->settings().is_local) local_hosts_ = nullptr;
  const bool is_hidden = found->second->settings().is_hidden;
  stopChecks(*found->second);
  stopQuestions(found->second->id());
  windows_.forget(name);
  unready_.erase(found->second->id());
  found->second->clearLimits(*found->second->stats().shard(0));
  found->second->setOutlierDetector(nullptr);
  locality_loads_.forget(name);
  retire(*found->second);
  retired_.add(std::move(found->second));
  clusters_.erase(found);
  warming_.erase(name);
  if (is_hidden) --hidden_;
  if (!is_hidden) stats_->shard(0)->add(Counter::ClusterRemoved);
  showCount();
  return true;
}

bool Clusters::noteUpdate(const Cluster& cluster,
                          const std::vector<UpdateWindows::Change>& changes) {
  if (unready_.contains(cluster.id()) || cluster.settings().is_hidden) return true;
  return windows_.note(cluster.name(), cluster.settings().update_merge_window_ms, changes,
                       upstream::hostClockMs());
}

void Clusters::noteWhole(const Cluster& cluster,
                         const std::vector<UpdateWindows::Change>& changes) {
  if (unready_.contains(cluster.id()) || cluster.settings().is_hidden) return;
  windows_.noteWhole(cluster.name(), cluster.settings().update_merge_window_ms, changes,
                     upstream::hostClockMs());
}

void Clusters::tellMerged(uint64_t now_ms, Delta* delta) {
  for (const std::string& name : windows_.run(now_ms)) {
    const auto found = clusters_.find(name);
    if (found != clusters_.end()) put(found->second, found->second->hosts(), delta);
  }
}

void Clusters::weighLoads(uint64_t now_ms, Delta* delta) {
  locality_loads_.run(clusters_, now_ms);
  for (const std::string& name : load_weights_.run(clusters_, now_ms)) {
    const std::shared_ptr<Cluster>& cluster = clusters_.at(name);
    regroup(cluster, cluster->hosts()->hosts(), delta);
  }
}

void Clusters::keepDestinations(uint64_t now_ms, Delta* delta) {
  for (Destinations::Change& change : destinations_.run(clusters_, now_ms)) {
    Cluster& cluster = *change.cluster;
    // Each that comes or goes counts; a new set counts once.
    cluster.stats().shard(0)->add(ClusterCounter::MembershipChange, change.count - 1);
    if (OutlierDetector* const detector = cluster.outlierDetector()) {
      detector->setHosts(change.hosts);
    }
    for (const auto& host : change.made) {
      cluster.countTransport(cluster.transportMatch(host->settings()), 0);
    }
    for (uint64_t i = 0; i < change.count; ++i) {
      noteUpdate(cluster, {UpdateWindows::Change::Members});
    }
    regroup(change.cluster, std::move(change.hosts), delta);
  }
}

void Clusters::regroup(const std::shared_ptr<Cluster>& cluster, Hosts hosts, Delta* delta) {
  const HostSet& before = *cluster->hosts();
  auto set = std::make_shared<HostSet>(std::move(hosts), before.settings(), before.rules());
  prepareBalancing(*cluster, set.get());
  countMembers(*cluster, *set);
  retire(*cluster);
  put(cluster, std::move(set), delta);
  countBalancing(*cluster);
}

// Until an assignment comes there are no hosts, which is reason enough to panic.
std::shared_ptr<const HostSet> Clusters::noHosts(uint32_t panic_threshold_pct) {
  std::shared_ptr<const HostSet>& none = no_hosts_[panic_threshold_pct];
  if (!none) none = std::make_shared<const HostSet>(Hosts(), nullptr, panic_threshold_pct, 100);
  return none;
}

void Clusters::put(const std::shared_ptr<Cluster>& cluster, std::shared_ptr<const HostSet> hosts,
                   Delta* delta) {
  if (delta) {
    ClusterChange& change = changeOf(*cluster, delta);
    change.cluster = cluster;
    change.hosts = hosts;
  }
  cluster->setHosts(std::move(hosts));
  if (cluster->settings().is_local) local_hosts_ = cluster->hosts();
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

}  // namespace fairlead::worker
