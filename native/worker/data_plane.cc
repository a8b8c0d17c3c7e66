#include "worker/data_plane.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "filters/http/http_filters.h"
#include "format/live_text.h"
#include "http/joined_headers.h"
#include "http/message.h"
#include "proxy/request_rules.h"
#include "worker/thread_driver.h"

namespace fairlead::worker {

namespace {
using stats::plainScope;

const ApplyError kStopping{"plan", "", "the proxy is stopping: nothing is applied any more"};

Listeners::Workers makeWorkers(const DataPlane::Options& options, log_files::LogFiles& logs) {
  Listeners::Workers workers;
  for (unsigned i = 0; i < options.workers; ++i) {
    workers.push_back(std::make_unique<Worker>(i, logs, options.intervals, options.on_health));
  }
  return workers;
}

std::unique_ptr<Driver> makeThreadDriver(Worker& worker) {
  return std::make_unique<ThreadDriver>(worker);
}

}  // namespace

DataPlane::DataPlane(const Options& options)
    : options_(options),
      // The checker of health counts and logs as one more worker.
      registry_(options.workers + 1, options.keeps_samples),
      filesystem_stats_(registry_.create<stats::Filesystem>(plainScope("filesystem."))),
      logs_(options.workers + 1, filesystem_stats_, options.log_flush_bytes),
      tls_sockets_(registry_, options.workers + 1, logs_),
      clusters_(registry_, options.workers, cluster_ids_, retired_, tls_sockets_, options.transport,
                slots_, logs_, checker_, health_, options.on_health, options.zone),
      chain_scope_([this](const std::string& stat_prefix) {
        return filters::ConfigScope{registry_,
                                    stats::httpScope(stat_prefix),
                                    options_.workers,
                                    slots_,
                                    cluster_ids_,
                                    drain_.healthCheckFailed(),
                                    taps_,
                                    faults_,
                                    late_counts_,
                                    publishers_,
                                    &names_,
                                    discovered_,
                                    demands_,
                                    jwt_keys_,
                                    &caches_,
                                    live_};
      }),
      route_tables_(table_ids_, cluster_ids_, slots_, retired_, registry_,
                    [this](const plan::FilterConfig& config) {
                      return filters::buildFilterConfig(
                          config, {registry_, slots_, cluster_ids_, options_.workers, publishers_,
                                   live_, &chain_scope_});
                    }),
      builder_({registry_,
                options.workers,
                slots_,
                logs_,
                service_logs_,
                cluster_ids_,
                route_tables_,
                drain_,
                taps_,
                faults_,
                late_counts_,
                publishers_,
                discovered_,
                discovered_listener_filters_,
                demands_,
                jwt_keys_,
                caches_,
                live_,
                gates_,
                worker_calls_,
                all_connections_,
                tls_sockets_,
                spans_,
                options.transport,
                options.last_filter,
                names_}),
      workers_(makeWorkers(options, logs_)),
      listeners_(registry_, builder_, drain_, retired_, workers_) {
  registry_.awaitWorkers();
  clusters_.useNames(names_);
  clusters_.useRequestRules(
      [this](const plan::RequestRules& plan,
             const stats::Scope& scope) -> Result<std::shared_ptr<const upstream::ClusterPart>> {
        filters::ConfigScope own = chain_scope_({});
        own.stats = scope;
        auto rules = proxy::RequestRules::build(plan, own);
        if (!rules) return rules.error();
        return std::shared_ptr<const upstream::ClusterPart>(std::move(rules.value()));
      });
  for (const auto& worker : workers_) worker->meet(workers_);
  watchdog_stats_ = {registry_.create<stats::Server>(plainScope("server.")),
                     registry_.create<stats::Watchdog>(plainScope("main_thread.")),
                     registry_.create<stats::Watchdog>(plainScope("workers."))};
  const auto hold = [this]<typename Layout>(std::type_identity<Layout>, const stats::Scope& scope) {
    other_stats_.push_back(registry_.create<Layout>(scope));
  };
  hold(std::type_identity<stats::Runtime>(), plainScope("runtime."));
  hold(std::type_identity<stats::Http1Codec>(), plainScope("http1."));
  hold(std::type_identity<stats::Overload>(), plainScope("overload."));
  overload_action_stats_ = registry_.create<stats::OverloadAction>(plainScope("envoy."));
  const auto own_calls = registry_.create<stats::AsyncClient>(stats::httpScope("async-client"));
  other_stats_.push_back(own_calls);
  for (unsigned i = 0; i < options.workers; ++i) {
    workers_[i]->countCallsIn(own_calls->shard(i + 1));
    worker_calls_->push_back(&workers_[i]->calls());
  }
  hold(std::type_identity<stats::HttpAdmin>(), stats::httpScope("admin"));
  hold(std::type_identity<stats::ListenerAdmin>(), plainScope("listener.admin."));
  hold(std::type_identity<stats::ListenerHttp>(), stats::listenerAdminHttpScope());
  for (unsigned i = 0; i < options.workers; ++i) {
    watchdog_stats_.worker.push_back(
        registry_.create<stats::ServerWorker>(stats::workerScope("server.", i)));
    const MakeDriver& make = options.make_driver ? options.make_driver : makeThreadDriver;
    drivers_.push_back(make(*workers_[i]));
  }
  logs_.reachWorkers([this](size_t worker, std::function<void()> task) {
    if (worker < workers_.size()) {
      workers_[worker]->post(std::move(task));
      return;
    }
    // As long as nothing is checked it runs where it is asked for: not here, where who asks holds
    // locks that it takes itself.
    workers_[0]->post([this, task = std::move(task)]() mutable { checker_.run(std::move(task)); });
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
  registry_.startWorkers();
  clusters_.startWorkers();
  // What reading the plans took lies between what stays of them: the allocator would keep it. Later
  // it would hold up workers that allocate.
  ::malloc_trim(0);
  std::vector<ApplyError> errors;
  for (auto& [listener, error] : listeners_.startListening()) {
    errors.push_back({kDroppedListener, listener, error.message});
  }
  for (size_t i = 0; i < drivers_.size(); ++i) {
    const Result<void> started = drivers_[i]->start();
    if (!started) errors.push_back({"worker", std::to_string(i), started.error().message});
  }
  const int unwatched = watchdog_ ? watchdog_->start() : 0;
  if (unwatched != 0) {
    errors.push_back({"worker", "guard_dog",
                      std::string("cannot start its thread: ") + std::strerror(unwatched)});
  }
  return errors;
}

void DataPlane::beginStop() {
  is_stopping_ = true;
  // From here on threads may take their time.
  if (watchdog_) watchdog_->stop();
  checker_.beginStop();
  for (const auto& worker : workers_) worker->beginStop();
}

void DataPlane::awaitStop() {
  std::call_once(stop_awaited_, [this] {
    checker_.awaitStop();
    for (const auto& driver : drivers_) driver->join();
    // It asks workers for lines until then.
    logs_.stop();
  });
}

void DataPlane::endStop() {
  // Its threads post to workers.
  caches_.stop();
  drivers_.clear();
  workers_.clear();
}

void DataPlane::stop() {
  beginStop();
  awaitStop();
  endStop();
}

std::unique_ptr<CpuProfile> DataPlane::profileCpu() const {
  return started_ && !is_stopping_ ? std::make_unique<CpuProfile>(workers_) : nullptr;
}

void DataPlane::stopListening(DrainScope scope) {
  if (!is_stopping_) listeners_.stop(scope);
}

std::vector<ApplyError> DataPlane::apply(const void* plan, size_t size) {
  Result<plan::Update> update = plan::readUpdate(plan, size);
  if (!update) return {{"plan", "", update.error().message}};
  return apply(std::move(update.value()));
}

std::vector<ApplyError> DataPlane::apply(plan::Update update) {
  if (is_stopping_) return {kStopping};
  std::vector<ApplyError> errors;
  const auto note = [&errors](const char* kind, const std::string& name, const Result<void>& done) {
    if (!done) errors.push_back({kind, name, done.error().message});
  };
  if (!started_) applyToProcess(update);
  Delta delta;
  for (const plan::TlsContext& context : update.tls_contexts) {
    note("tls", std::to_string(context.id), tls_sockets_.replace(context));
  }
  openOutlierLog(update.outlier_log_path, &errors);
  for (const plan::NameCache& cache : update.name_caches) names_.declare(cache);
  for (const plan::Cluster& cluster : update.clusters) {
    note("cluster", cluster.name, clusters_.apply(cluster, &delta));
  }
  for (plan::Assignment& part : update.assignments) {
    const std::string name = part.cluster_name;
    note("assignment", name, clusters_.assign(std::move(part), &delta));
  }
  for (const plan::RouteTable& table : update.route_tables) {
    note("route_table", table.name, route_tables_.apply(table, &delta));
  }
  if (const auto& limit = update.connection_limit) {
    all_connections_->setLimit(RuntimeNumber(limit->value, limit->slot, &slots_));
  }
  for (const std::string& name : update.removed_route_tables) route_tables_.remove(name, &delta);
  for (const std::string& name : update.left_route_tables) route_tables_.leave(name);
  route_tables_.removeLeft(&delta);
  for (const std::string& name : update.removed_clusters) clusters_.remove(name, &delta);
  slots_.set(update.runtime_values);
  for (const plan::ClusterRuntime& runtime : update.cluster_runtimes) {
    clusters_.applyRuntime(runtime);
  }
  faults_.runtimes().apply(update.fault_runtimes);
  publish(std::move(delta));
  if (update.watchdogs) watch(*update.watchdogs);
  if (update.times_turns) timeTurns();
  applyNames(update.name_answers);
  if (update.overload_manager) declareOverload(*update.overload_manager);
  if (update.overload) publishOverload(*update.overload);
  if (update.shrink_heap) ::malloc_trim(0);
  applyListeners(update, &errors);
  for (const plan::FilterChain& chain : update.changed_filter_chains) {
    note("filter", chain.name, listeners_.changeFilterChain(chain));
  }
  for (const plan::DiscoveredListenerFilter& filter : update.discovered_listener_filters) {
    applyDiscovered(filter, &errors);
  }
  for (const plan::DiscoveredFilter& filter : update.discovered_filters) {
    applyDiscovered(filter, &errors);
  }
  tellMet(update.met_demands);
  for (const plan::TapFilter& tap : update.taps) applyTap(tap, &errors);
  for (const plan::JwksUpdate& jwks : update.jwks) applyJwks(jwks, &errors);
  for (const plan::Secret& secret : update.secrets) {
    applyLive(live_.secrets, "secret", secret, &errors);
  }
  for (const plan::LiveText& text : update.live_texts) {
    if (!format::LiveText::replace(text)) errors.push_back({"text", text.name, "nobody wants it"});
  }
  for (const plan::AwsCredentials& one : update.aws_credentials) {
    applyLive(live_.aws, "aws_credentials", one, &errors);
  }
  applyAdminLogs(update.admin_access_logs, &errors);
  return errors;
}

void DataPlane::endWaits(const std::vector<std::string>& clusters) {
  Delta delta;
  for (const std::string& cluster : clusters) {
    if (!is_stopping_) endWait(cluster, &delta);
    clusters_.setWarming(cluster, false);
  }
  if (!is_stopping_) publish(std::move(delta));
}

void DataPlane::endWait(const std::string& cluster, Delta* delta) {
  // What its checks need was there when it came: nothing can be refused.
  static_cast<void>(clusters_.endWait(cluster, delta));
  if (clusters_.hasOthersHosts(cluster)) {
    // It has waited in vain.
    plan::Assignment nothing;
    nothing.cluster_name = cluster;
    nothing.overprovisioning_factor_pct = 140;
    static_cast<void>(clusters_.assign(std::move(nothing), delta));
  }
}

// What nothing may be built before, and no thread run without.
void DataPlane::applyToProcess(const plan::Update& update) {
  if (!update.header_prefix.empty()) http::setHeaderPrefix(update.header_prefix);
  http::joinToo(update.joined_request_headers, update.joined_response_headers);
  if (!update.pins_workers) return;
  for (const auto& worker : workers_) worker->pin();
  listeners_.notePinned();
}

void DataPlane::takeHealth() {
  if (is_stopping_) return;
  Delta delta;
  clusters_.applyHealth(health_->take(), &delta);
  const uint64_t now_ms = upstream::hostClockMs();
  clusters_.keepDestinations(now_ms, &delta);
  clusters_.detectOutliers(now_ms, &delta);
  clusters_.tellMerged(now_ms, &delta);
  clusters_.weighLoads(now_ms, &delta);
  publish(std::move(delta));
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

void DataPlane::openOutlierLog(const std::string& path, std::vector<ApplyError>* errors) {
  if (path.empty()) return;
  auto file = logs_.open(path);
  if (file) {
    clusters_.outliers().logTo(std::move(file.value()));
  } else {
    errors->push_back({"plan", "", file.error().message});
  }
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

// Workers have the hosts by then.
void DataPlane::applyNames(const std::vector<plan::NameAnswer>& answers) {
  for (const plan::NameAnswer& answer : answers) {
    const std::shared_ptr<upstream::NameCache> cache = names_.find(answer.cache);
    if (!cache) continue;
    if (answer.is_removed) {
      cache->forget(answer.name);
      for (const auto& worker : workers_) {
        worker->post(
            [cache, index = worker->index(), name = answer.name] { cache->drop(index, name); });
      }
      continue;
    }
    const upstream::KnownName known = cache->note(answer, net::Loop::readClockMicros() / 1000);
    for (const auto& worker : workers_) {
      worker->post([cache, index = worker->index(), name = answer.name, known] {
        cache->put(index, name, known);
      });
    }
  }
}

uint64_t DataPlane::nameAgeMs(const std::string& cache, const std::string& name) const {
  const auto found = names_.find(cache);
  return found ? found->ageMs(name, net::Loop::readClockMicros() / 1000) : 0;
}

std::vector<ApplyError> DataPlane::takeBack() {
  if (is_stopping_) return {kStopping};
  std::vector<ApplyError> errors;
  for (auto& [listener, error] : listeners_.takeBack()) {
    errors.push_back({"listener", listener, error.message});
  }
  return errors;
}

template <typename Plan>
void DataPlane::applyLive(const filters::LiveValuesOf<Plan>& values, const char* what,
                          const Plan& plan, std::vector<ApplyError>* errors) {
  const auto live = values.find(plan.id);
  if (!live) {
    errors->push_back({what, std::to_string(plan.id), "nobody wants it"});
    return;
  }
  auto value = std::make_shared<const Plan>(plan);
  for (const auto& worker : workers_) {
    worker->post([index = worker->index(), live, value] { live->deliver(index, value); });
  }
}

}  // namespace fairlead::worker
