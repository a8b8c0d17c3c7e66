#include "worker/data_plane.h"

#include <atomic>
#include <cstring>

#include "filters/http/http_filters.h"
#include "filters/listener/listener_filters.h"

namespace fairlead::worker {

namespace {
using ClusterGauge = stats::Cluster::Gauge;
using ClusterCounter = stats::Cluster::Counter;
using stats::plainScope;

const ApplyError kStopping{"plan", "", "the proxy is stopping: nothing is applied any more"};

}  // namespace

DataPlane::DataPlane(const Options& options)
    : options_(options),
      registry_(options.workers, options.keeps_samples),
      filesystem_stats_(registry_.create<stats::Filesystem>(plainScope("filesystem."))),
      listener_stats_(registry_.create<stats::ListenerManager>(plainScope("listener_manager."))),
      cluster_stats_(registry_.create<stats::ClusterManager>(plainScope("cluster_manager."))),
      logs_(options.workers, filesystem_stats_, options.log_flush_bytes),
      listen_sockets_(options.workers) {
  const auto hold = [this]<typename Layout>(std::type_identity<Layout>, const stats::Scope& scope) {
    other_stats_.push_back(registry_.create<Layout>(scope));
  };
  hold(std::type_identity<stats::Server>(), plainScope("server."));
  hold(std::type_identity<stats::Runtime>(), plainScope("runtime."));
  hold(std::type_identity<stats::Http1Codec>(), plainScope("http1."));
  hold(std::type_identity<stats::Overload>(), plainScope("overload."));
  hold(std::type_identity<stats::OverloadAction>(), plainScope("envoy."));
  hold(std::type_identity<stats::Watchdog>(), plainScope("main_thread."));
  hold(std::type_identity<stats::Watchdog>(), plainScope("workers."));
  hold(std::type_identity<stats::AsyncClient>(), stats::httpScope("async-client"));
  hold(std::type_identity<stats::HttpAdmin>(), stats::httpScope("admin"));
  hold(std::type_identity<stats::ListenerAdmin>(), plainScope("listener.admin."));
  hold(std::type_identity<stats::ListenerHttp>(), stats::listenerAdminHttpScope());
  const std::string thread_local_manager = "thread_local_cluster_manager.";
  const auto holdInflated = [this](const stats::Scope& scope) {
    inflated_stats_.push_back(registry_.create<stats::ClusterManagerThread>(scope));
  };
  holdInflated(plainScope(thread_local_manager + "main_thread."));
  for (unsigned i = 0; i < options.workers; ++i) {
    hold(std::type_identity<stats::ServerWorker>(), stats::workerScope("server.", i));
    holdInflated(stats::workerScope(thread_local_manager, i));
    workers_.push_back(std::make_unique<Worker>(i, logs_, options.intervals));
  }
  logs_.reachWorkers([this](size_t worker, std::function<void()> task) {
    workers_[worker]->post(std::move(task));
  });
}

DataPlane::~DataPlane() { stop(); }

Result<std::shared_ptr<DataPlane>> DataPlane::create(const Options& options) {
  auto plane = std::make_shared<DataPlane>(options);
  if (const int error = plane->logs_.error()) {
    return Error{std::string("cannot start the thread that writes access logs: ") +
                 std::strerror(error)};
  }
  for (const auto& worker : plane->workers_) {
    if (worker->error() == 0) continue;
    return Error{"cannot make worker " + std::to_string(worker->index() + 1) + " of " +
                 std::to_string(options.workers) + ": " + std::strerror(worker->error())};
  }
  return plane;
}

std::vector<ApplyError> DataPlane::start() {
  if (is_stopping_) return {kStopping};
  if (started_) return {};
  started_ = true;
  std::vector<ApplyError> errors;
  for (auto& [listener, error] : listen_sockets_.startListening()) {
    errors.push_back({"listener", listener, error.message});
  }
  for (const auto& worker : workers_) {
    if (const int error = worker->start()) {
      errors.push_back({"worker", std::to_string(worker->index()),
                        std::string("cannot start its thread: ") + std::strerror(error)});
    }
  }
  listener_stats_->shard(0)->set(stats::ListenerManager::Gauge::WorkersStarted, 1);
  listener_stats_->shard(0)->set(stats::ListenerManager::Gauge::TotalListenersWarming, 0);
  cluster_stats_->shard(0)->set(stats::ClusterManager::Gauge::WarmingClusters, 0);
  return errors;
}

void DataPlane::beginStop() {
  is_stopping_ = true;
  for (const auto& worker : workers_) worker->beginStop();
}

void DataPlane::awaitStop() {
  std::call_once(stop_awaited_, [this] {
    for (const auto& worker : workers_) worker->join();
    // It asks workers for lines until then.
    logs_.stop();
  });
}

void DataPlane::endStop() { workers_.clear(); }

void DataPlane::stop() {
  beginStop();
  awaitStop();
  endStop();
}

std::unique_ptr<CpuProfile> DataPlane::profileCpu() const {
  return started_ && !is_stopping_ ? std::make_unique<CpuProfile>(workers_) : nullptr;
}

void DataPlane::stopListening(DrainScope scope) {
  if (is_stopping_) return;
  drain_.stop(scope);
  for (const auto& listener : listener_plans_) {
    const plan::Listener& plan = listener->config->plan;
    if (!drain_.isStopped(plan.direction)) continue;
    if (!stopped_listeners_.insert(plan.name).second) continue;
    listener_stats_->shard(0)->add(stats::ListenerManager::Counter::ListenerStopped);
    listen_sockets_.close(plan.name);
    for (const auto& worker : workers_) {
      worker->post([target = worker.get(), name = plan.name] { target->stopListener(name); });
    }
  }
}

std::vector<ApplyError> DataPlane::apply(const void* plan, size_t size) {
  const Result<plan::Update> update = plan::readUpdate(plan, size);
  if (!update) return {{"plan", "", update.error().message}};
  return apply(update.value());
}

std::vector<ApplyError> DataPlane::apply(const plan::Update& update) {
  if (is_stopping_) return {kStopping};
  std::vector<ApplyError> errors;
  for (const plan::Cluster& cluster : update.clusters) applyCluster(cluster);
  for (const plan::Assignment& part : update.assignments) applyAssignment(part, &errors);
  for (const plan::RouteTable& table : update.route_tables) applyRouteTable(table, &errors);
  if (const auto& limit = update.connection_limit) {
    all_connections_->setLimit(RuntimeNumber(limit->value, limit->slot, &slots_));
  }
  for (const plan::Listener& listener : update.listeners) applyListener(listener, &errors);
  slots_.set(update.runtime_values);
  for (const plan::ClusterRuntime& runtime : update.cluster_runtimes) {
    const auto cluster = clusters_.find(runtime.cluster_name);
    if (cluster != clusters_.end()) cluster->second->applyRuntime(runtime);
  }
  for (const plan::TapFilter& tap : update.taps) applyTap(tap, &errors);
  applyAdminLogs(update.admin_access_logs, &errors);
  return errors;
}

void DataPlane::applyAdminLogs(const std::vector<plan::AccessLog>& plans,
                               std::vector<ApplyError>* errors) {
  if (plans.empty()) return;
  auto logs = buildLogs(plans);
  if (logs) {
    admin_log_.use(std::move(logs.value()));
  } else {
    errors->push_back({"plan", "", logs.error().message});
  }
}

void DataPlane::addHttp2Stats(upstream::Cluster& cluster) {
  other_stats_.push_back(
      registry_.create<stats::Http2Codec>(innerScope(cluster.stats().scope(), "http2.")));
}

const std::string& DataPlane::addGoogleGrpcStats(std::string_view stat_prefix) {
  other_stats_.push_back(registry_.create<stats::GoogleGrpc>(stats::googleGrpcScope(stat_prefix)));
  return other_stats_.back()->scope().prefix;
}

// ---- clusters ----

void DataPlane::applyCluster(const plan::Cluster& plan) {
  const std::string& scope = plan.observability_name.empty() ? plan.name : plan.observability_name;
  auto cluster = std::make_shared<upstream::Cluster>(
      plan, registry_.create<stats::Cluster>(stats::clusterScope(scope)), options_.transport);
  if (plan.is_resolved && !resolver_stats_) {
    resolver_stats_ = registry_.create<stats::DnsCares>(plainScope("dns.cares."));
  }
  if (plan.is_encrypted) {
    const stats::Scope own = stats::clusterScope(scope);
    other_stats_.push_back(registry_.create<stats::Ssl>(innerScope(own, "ssl.")));
    other_stats_.push_back(
        registry_.create<stats::SslSocketFactory>(innerScope(own, "client_ssl_socket_factory.")));
  }
  const bool known = clusters_.contains(plan.name);
  clusters_[plan.name] = cluster;
  using Counter = stats::ClusterManager::Counter;
  cluster_stats_->shard(0)->add(known ? Counter::ClusterModified : Counter::ClusterAdded);
  cluster_stats_->shard(0)->set(stats::ClusterManager::Gauge::ActiveClusters, clusters_.size());
  cluster->stats().shard(0)->set(ClusterGauge::WarmingState, 0);
  // No thread waits for the first request before it knows a cluster.
  for (const auto& inflated : inflated_stats_) {
    inflated->shard(0)->set(stats::ClusterManagerThread::Gauge::ClustersInflated, clusters_.size());
  }
  // Until an assignment comes there are no hosts, which is reason enough to panic.
  auto none = std::make_shared<const upstream::HostSet>(
      std::vector<std::shared_ptr<upstream::Host>>(), plan.panic_threshold_pct, 100);
  cluster->setHosts(none);
  for (const auto& worker : workers_) {
    worker->post([target = worker.get(), cluster, none] { target->clusters().set(cluster, none); });
  }
}

void DataPlane::applyAssignment(const plan::Assignment& plan, std::vector<ApplyError>* errors) {
  const auto found = clusters_.find(plan.cluster_name);
  if (found == clusters_.end()) {
    errors->push_back({"assignment", plan.cluster_name, "there is no cluster of this name"});
    return;
  }
  upstream::Cluster& cluster = *found->second;
  // Hosts that stay keep their connections and counters: they are the same objects.
  upstream::KnownHosts known(cluster.hosts()->hosts());
  std::vector<std::shared_ptr<upstream::Host>> hosts;
  hosts.reserve(plan.hosts.size());
  for (const plan::Host& host_plan : plan.hosts) {
    std::shared_ptr<upstream::Host> host = known.find(hosts.size(), host_plan);
    if (!host) {
      host = std::make_shared<upstream::Host>(host_plan, options_.workers);
      cluster.stats().shard(0)->add(ClusterCounter::DefaultTotalMatchCount);
    }
    hosts.push_back(std::move(host));
  }
  // Nothing is new: balancers go on where they are.
  if (!hosts.empty() && cluster.hosts()->isOf(hosts, plan.overprovisioning_factor_pct)) return;
  auto set = std::make_shared<const upstream::HostSet>(
      std::move(hosts), cluster.settings().panic_threshold_pct, plan.overprovisioning_factor_pct);
  stats::Shard<stats::Cluster>& stats = *cluster.stats().shard(0);
  const uint64_t changes = set->prioritiesOtherThan(*cluster.hosts());
  if (changes > 0) stats.add(ClusterCounter::MembershipChange, changes);
  // Those of a cluster that never had a host stay gauges that nobody touched.
  if (changes > 0 || stats.isSet(ClusterGauge::MembershipTotal)) {
    stats.set(ClusterGauge::MembershipTotal, set->hosts().size());
    stats.set(ClusterGauge::MembershipHealthy, set->healthyCount());
    stats.set(ClusterGauge::MembershipDegraded, set->degradedCount());
    stats.set(ClusterGauge::MembershipExcluded, set->excludedCount());
  }
  cluster.setHosts(set);
  for (const auto& worker : workers_) {
    worker->post([target = worker.get(), name = plan.cluster_name, set] {
      target->clusters().setHosts(name, set);
    });
  }
}

void DataPlane::refreshGauges() {
  for (const auto& [name, cluster] : clusters_) {
    for (uint32_t priority = 0; priority < 2; ++priority) {
      cluster->publishLimits(priority, *cluster->stats().shard(0));
    }
  }
}

// ---- routes ----

void DataPlane::applyRouteTable(const plan::RouteTable& plan, std::vector<ApplyError>* errors) {
  Result<std::shared_ptr<const route::RouteTable>> table =
      route::RouteTable::build(plan, &slots_, [this](const plan::FilterConfig& config) {
        return filters::buildFilterConfig(config, slots_);
      });
  if (!table) {
    errors->push_back({"route_table", plan.name, table.error().message});
    return;
  }
  route_tables_[plan.name] = std::move(table.value());
}

// ---- listeners ----

void DataPlane::applyListener(const plan::Listener& plan, std::vector<ApplyError>* errors) {
  using Counter = stats::ListenerManager::Counter;
  // As the real server: nothing is said of it.
  if (drain_.isStopped(plan.direction)) return;
  stats::Shard<stats::ListenerManager>& stats = *listener_stats_->shard(0);
  stats.add(Counter::ListenerAdded);
  Result<ListenSockets::Group> sockets = listen_sockets_.open(plan);
  Result<std::shared_ptr<ListenerPlan>> built = sockets ? buildListener(plan) : sockets.error();
  if (!built) {
    errors->push_back({"listener", plan.name, built.error().message});
    stats.add(Counter::ListenerCreateFailure);
    listen_sockets_.close(plan.name);
    return;
  }
  auto config = std::make_shared<net::ListenerConfig>(*built.value()->config);
  config->address = sockets.value().address;
  built.value()->config = std::move(config);
  drain_.join(plan, built.value()->drain);
  std::shared_ptr<const ListenerPlan> shared = built.value();
  bound_.push_back({plan.name, plan.stat_name, shared->config->address});
  listener_plans_.push_back(shared);
  stats.set(stats::ListenerManager::Gauge::TotalListenersActive, bound_.size());
  stats.add(Counter::ListenerCreateSuccess, workers_.size());
  for (size_t i = 0; i < workers_.size(); ++i) {
    workers_[i]->post(
        [target = workers_[i].get(), shared, own = std::move(sockets.value().by_worker[i])] {
          target->addListener(shared, own);
        });
  }
}

uint64_t DataPlane::openConnections() const {
  uint64_t sum = 0;
  for (const auto& listener : listener_plans_) {
    sum += listener->config->connections->load(std::memory_order_relaxed);
  }
  return sum;
}

std::future<void> DataPlane::handOver(const std::set<std::string>& taken_addresses) {
  for (const auto& listener : listener_plans_) {
    const std::string& name = listener->config->plan.name;
    if (stopped_listeners_.contains(name) || !handed_over_.insert(name).second) continue;
    const bool is_taken = taken_addresses.contains(listen_sockets_.addressOf(name));
    if (!is_taken) listen_sockets_.close(name);
    for (const auto& worker : workers_) {
      worker->post([target = worker.get(), name, is_taken] {
        is_taken ? target->pauseListener(name) : target->stopListener(name);
      });
    }
  }
  // Goes with the last task that knows of it, be it run or dropped by a worker that ends.
  struct Pending {
    std::promise<void> done;
    ~Pending() { done.set_value(); }
  };
  const auto pending = std::make_shared<Pending>();
  for (const auto& worker : workers_) worker->post([pending] {});
  return pending->done.get_future();
}

std::vector<ApplyError> DataPlane::takeBack() {
  if (is_stopping_) return {kStopping};
  std::vector<ApplyError> errors;
  for (const auto& listener : listener_plans_) {
    const net::ListenerConfig& config = *listener->config;
    const std::string& name = config.plan.name;
    if (handed_over_.erase(name) == 0) continue;
    if (listen_sockets_.addressOf(name).empty()) {
      // Where it was, whatever the plan leaves open.
      plan::Listener plan = config.plan;
      if (config.address.isIp()) plan.address->port = config.address.port();
      if (const auto again = listen_sockets_.open(plan); !again) {
        errors.push_back({"listener", name, again.error().message});
        continue;
      }
    }
    ListenSockets::ByWorker sockets = listen_sockets_.distribute(name);
    for (size_t i = 0; i < workers_.size(); ++i) {
      workers_[i]->post([target = workers_[i].get(), name, own = std::move(sockets[i])] {
        target->resumeListener(name, own);
      });
    }
  }
  return errors;
}

Result<std::shared_ptr<ListenerPlan>> DataPlane::buildListener(const plan::Listener& plan) {
  auto config = std::make_shared<net::ListenerConfig>();
  config->plan = plan;
  config->max_connections = RuntimeNumber(plan.max_connections, plan.max_connections_slot, &slots_);
  config->all_connections = all_connections_;
  config->match = net::FilterChainMatch(plan.filter_chains);
  auto filters = filters::buildListenerFilters(plan.listener_filters, registry_);
  if (!filters) return filters.error();
  config->filters = std::move(filters.value());
  config->stats = registry_.create<stats::Listener>(stats::listenerScope(plan.stat_name));
  for (unsigned i = 0; i < options_.workers; ++i) {
    config->worker_stats.push_back(
        registry_.create<stats::ListenerWorker>(stats::listenerWorkerScope(plan.stat_name, i)));
  }
  auto result = std::make_shared<ListenerPlan>();
  result->drain = std::make_shared<net::DrainDecision>();
  for (const plan::FilterChain& chain : plan.filter_chains) {
    Result<FilterChainPlan> built = buildChain(plan, chain, result->drain);
    if (!built) return built.error();
    result->chains.push_back(std::move(built.value()));
  }
  auto logs = buildLogs(plan.access_logs);
  if (!logs) return logs.error();
  result->access_logs = std::move(logs.value());
  config->plan.filter_chains.clear();
  result->config = std::move(config);
  return result;
}

Result<FilterChainPlan> DataPlane::buildChain(const plan::Listener& listener,
                                              const plan::FilterChain& chain,
                                              std::shared_ptr<const net::DrainDecision> drain) {
  if (chain.http) return buildHttp(listener, chain, std::move(drain));
  if (chain.tcp) return buildTcp(listener, chain);
  if (chain.direct_response) {
    return FilterChainPlan(DirectResponsePlan{chain.direct_response->body});
  }
  if (chain.echo) return FilterChainPlan(EchoPlan());
  return FilterChainPlan(EmptyPlan());
}

Result<FilterChainPlan> DataPlane::buildHttp(const plan::Listener& listener,
                                             const plan::FilterChain& chain,
                                             std::shared_ptr<const net::DrainDecision> drain) {
  const plan::HttpConnectionManager& plan = *chain.http;
  auto config =
      std::make_shared<proxy::HttpConfig>(plan, listener.per_connection_buffer_limit_bytes);
  const auto table = route_tables_.find(plan.route_table);
  if (table == route_tables_.end()) {
    return Error{"there is no route table '" + plan.route_table + "'"};
  }
  config->routes = table->second;
  config->drain = std::move(drain);
  config->transport = options_.transport;
  config->filter_chain_name = chain.name;
  config->stats = registry_.create<stats::Http>(stats::httpScope(plan.stat_prefix));
  config->listener_stats = registry_.create<stats::ListenerHttp>(
      stats::listenerHttpScope(listener.stat_name, plan.stat_prefix));
  config->codec_stats = registry_.create<stats::Http1Codec>(plainScope("http1."));
  auto logs = buildLogs(plan.access_logs);
  if (!logs) return logs.error();
  config->setAccessLogs(std::move(logs.value()));
  if (plan.http_filters.size() >= 64) return Error{"a chain has at most 63 HTTP filters"};
  const filters::ConfigScope scope = {
      registry_, stats::httpScope(plan.stat_prefix), options_.workers,
      slots_,    drain_.healthCheckFailed(),         taps_};
  for (const plan::HttpFilter& filter : plan.http_filters) {
    auto built = filters::buildHttpFilter(filter, scope);
    if (!built) return built.error();
    if (!filter.disabled) config->filters_on |= uint64_t{1} << config->filters.size();
    config->filters.push_back(std::move(built.value()));
  }
  if (options_.last_filter) {
    config->filters_on |= uint64_t{1} << config->filters.size();
    config->filters.push_back(options_.last_filter);
  }
  return FilterChainPlan(std::shared_ptr<const proxy::HttpConfig>(std::move(config)));
}

void DataPlane::applyTap(const plan::TapFilter& plan, std::vector<ApplyError>* errors) {
  const std::shared_ptr<filters::TapConfig> tap = taps_.find(plan.id);
  if (!tap) {
    errors->push_back({"tap", std::to_string(plan.id), "there is no tap filter of this number"});
    return;
  }
  std::shared_ptr<const filters::TapSettings> settings;
  if (plan.tap) {
    auto built = filters::TapSettings::build(*plan.tap);
    if (!built) {
      errors->push_back({"tap", std::to_string(plan.id), built.error().message});
      return;
    }
    settings = std::move(built.value());
  }
  for (const auto& worker : workers_) {
    worker->post([index = worker->index(), tap, settings] { tap->set(index, settings); });
  }
}

Result<FilterChainPlan> DataPlane::buildTcp(const plan::Listener& listener,
                                            const plan::FilterChain& chain) {
  auto config = std::make_shared<tcp::TcpProxyConfig>();
  config->plan = *chain.tcp;
  config->transport = options_.transport;
  config->filter_chain_name = chain.name;
  config->buffer_limit_bytes = listener.per_connection_buffer_limit_bytes;
  config->stats = registry_.create<stats::Tcp>(stats::tcpScope(chain.tcp->stat_prefix));
  auto logs = buildLogs(chain.tcp->access_logs);
  if (!logs) return logs.error();
  config->access_logs = std::move(logs.value());
  return FilterChainPlan(std::shared_ptr<const tcp::TcpProxyConfig>(std::move(config)));
}

Result<std::vector<std::shared_ptr<access_log::AccessLog>>> DataPlane::buildLogs(
    const std::vector<plan::AccessLog>& plans) {
  std::vector<std::shared_ptr<access_log::AccessLog>> logs;
  for (const plan::AccessLog& plan : plans) {
    auto log = access_log::AccessLog::build(plan, logs_, &slots_);
    if (!log) return log.error();
    logs.push_back(std::move(log.value()));
  }
  return logs;
}

}  // namespace fairlead::worker
