#include "worker/data_plane.h"

#include <malloc.h>

#include <atomic>
#include <cstring>

#include "filters/http/http_filters.h"

namespace fairlead::worker {

namespace {
using stats::plainScope;

const ApplyError kStopping{"plan", "", "the proxy is stopping: nothing is applied any more"};

}  // namespace

DataPlane::DataPlane(const Options& options)
    : options_(options),
      registry_(options.workers, options.keeps_samples),
      filesystem_stats_(registry_.create<stats::Filesystem>(plainScope("filesystem."))),
      listener_stats_(registry_.create<stats::ListenerManager>(plainScope("listener_manager."))),
      logs_(options.workers, filesystem_stats_, options.log_flush_bytes),
      clusters_(registry_, options.workers, cluster_ids_, retired_, options.transport),
      route_tables_(table_ids_, cluster_ids_, slots_, retired_,
                    [this](const plan::FilterConfig& config) {
                      return filters::buildFilterConfig(config, slots_);
                    }),
      builder_({registry_, options.workers, slots_, logs_, cluster_ids_, route_tables_, drain_,
                taps_, faults_, all_connections_, options.transport, options.last_filter}),
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
  for (unsigned i = 0; i < options.workers; ++i) {
    hold(std::type_identity<stats::ServerWorker>(), stats::workerScope("server.", i));
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
  // What reading the plans took lies between what stays of them: the allocator would keep it. Later
  // it would hold up workers that allocate.
  ::malloc_trim(0);
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
  clusters_.showStarted();
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
  const auto note = [&errors](const char* kind, const std::string& name, const Result<void>& done) {
    if (!done) errors.push_back({kind, name, done.error().message});
  };
  Delta delta;
  for (const plan::Cluster& cluster : update.clusters) clusters_.apply(cluster, &delta);
  for (const plan::Assignment& part : update.assignments) {
    note("assignment", part.cluster_name, clusters_.assign(part, &delta));
  }
  for (const plan::RouteTable& table : update.route_tables) {
    note("route_table", table.name, route_tables_.apply(table, &delta));
  }
  if (const auto& limit = update.connection_limit) {
    all_connections_->setLimit(RuntimeNumber(limit->value, limit->slot, &slots_));
  }
  for (const std::string& name : update.removed_route_tables) route_tables_.remove(name, &delta);
  for (const std::string& name : update.removed_clusters) clusters_.remove(name, &delta);
  slots_.set(update.runtime_values);
  for (const plan::ClusterRuntime& runtime : update.cluster_runtimes) {
    clusters_.applyRuntime(runtime);
  }
  faults_.runtimes().apply(update.fault_runtimes);
  publish(std::move(delta));
  for (const plan::Listener& listener : update.listeners) applyListener(listener, &errors);
  for (const plan::TapFilter& tap : update.taps) applyTap(tap, &errors);
  applyAdminLogs(update.admin_access_logs, &errors);
  return errors;
}

// One for all workers, which take it up as a whole unless it is long.
void DataPlane::publish(Delta delta) {
  clusters_.endDelta();
  sweep();
  if (delta.empty()) return;
  const auto shared = std::make_shared<const Delta>(std::move(delta));
  for (const auto& worker : workers_) worker->take(shared);
  retired_.add(shared);
}

void DataPlane::applyAdminLogs(const std::vector<plan::AccessLog>& plans,
                               std::vector<ApplyError>* errors) {
  if (plans.empty()) return;
  Result<AccessLogs> logs = builder_.buildLogs(plans);
  if (logs) {
    admin_log_.use(std::move(logs.value()));
  } else {
    errors->push_back({"plan", "", logs.error().message});
  }
}

void DataPlane::addHttp2Stats(upstream::Cluster& cluster) {
  cluster.keepStats(
      registry_.create<stats::Http2Codec>(innerScope(cluster.stats().scope(), "http2.")));
}

const std::string& DataPlane::addGoogleGrpcStats(std::string_view stat_prefix) {
  other_stats_.push_back(registry_.create<stats::GoogleGrpc>(stats::googleGrpcScope(stat_prefix)));
  return other_stats_.back()->scope().prefix;
}

const std::string& DataPlane::addCdsStats() {
  other_stats_.push_back(registry_.create<stats::Cds>(plainScope("cluster_manager.cds.")));
  return other_stats_.back()->scope().prefix;
}

const std::string& DataPlane::addRdsStats(std::string_view http_prefix, std::string_view name) {
  other_stats_.push_back(registry_.create<stats::Rds>(stats::rdsScope(http_prefix, name)));
  return other_stats_.back()->scope().prefix;
}

void DataPlane::refreshStats() {
  faults_.publish(registry_);
  clusters_.refreshGauges();
  sweep();
}

// ---- listeners ----

void DataPlane::applyListener(const plan::Listener& plan, std::vector<ApplyError>* errors) {
  using Counter = stats::ListenerManager::Counter;
  // As the real server: nothing is said of it.
  if (drain_.isStopped(plan.direction)) return;
  stats::Shard<stats::ListenerManager>& stats = *listener_stats_->shard(0);
  stats.add(Counter::ListenerAdded);
  Result<ListenSockets::Group> sockets = listen_sockets_.open(plan);
  auto built = sockets ? builder_.build(plan, sockets.value().address) : sockets.error();
  if (!built) {
    errors->push_back({"listener", plan.name, built.error().message});
    stats.add(Counter::ListenerCreateFailure);
    listen_sockets_.close(plan.name);
    return;
  }
  const std::shared_ptr<const ListenerPlan>& shared = built.value();
  drain_.join(plan, shared->drain);
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

}  // namespace fairlead::worker
