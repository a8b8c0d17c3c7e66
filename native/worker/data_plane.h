// The whole data plane as the control thread sees it: applies plans, runs workers, reads numbers.
// Every method is the control thread's, but for awaitStop(). What is refused is refused before any
// worker hears of it.
#pragma once

#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/runtime_slots.h"
#include "caches/cache_stores.h"
#include "filters/http/demands.h"
#include "filters/http/discovered.h"
#include "filters/http/faults.h"
#include "filters/http/late_counts.h"
#include "filters/http/live_value.h"
#include "filters/http/published.h"
#include "filters/http/tap.h"
#include "filters/jwt/key_store.h"
#include "log_files/log_files.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"
#include "tracing/spans.h"
#include "worker/admin_log.h"
#include "worker/clusters.h"
#include "worker/cpu_profile.h"
#include "worker/drain.h"
#include "worker/driver.h"
#include "worker/listener_builder.h"
#include "worker/listeners.h"
#include "worker/retired.h"
#include "worker/route_tables.h"
#include "worker/watchdog.h"
#include "worker/worker.h"

namespace fairlead::worker {

// Of an error: a listener that was taken, could not listen, and has gone with what it replaced.
inline constexpr const char* kDroppedListener = "dropped_listener";

struct ApplyError {
  // "plan", "cluster", "assignment", "route_table", "listener", "filter", "tap", "tls", "worker",
  // or kDroppedListener.
  const char* kind;
  std::string name;
  std::string message;
};

class DataPlane {
 public:
  struct Options {
    unsigned workers = 1;
    Worker::Intervals intervals = {};
    // An access log is flushed when a worker holds as much of it.
    size_t log_flush_bytes = log_files::LogFiles::kFlushBytes;
    // A sink wants the single values of histograms.
    bool keeps_samples = false;
    // This proxy's own; empty: answers are not counted by zones.
    std::string zone = {};
    // Takes what taps record; null: there cannot be any.
    std::shared_ptr<filters::TapSink> tap_sink = nullptr;
    // Takes names of hosts that are to be looked up; null: nobody does.
    std::shared_ptr<upstream::NameSink> name_sink = nullptr;
    // Takes what access logs gather for services; null: it is thrown away.
    std::shared_ptr<access_log::EntrySink> entry_sink = nullptr;
    // Takes what workers ask of the control plane; null: it is not asked.
    std::shared_ptr<filters::ControlAsks> asks = nullptr;
    // Beneath every connection of HTTP and TCP proxies; null: raw sockets.
    net::SharedTransport transport = nullptr;
    // Passed last in every HTTP connection manager, after those of its plan.
    std::shared_ptr<const filters::HttpFilterConfig> last_filter = nullptr;
    // Asks that the control thread calls takeHealth() soon; on any thread. Null: it is called
    // without.
    std::function<void()> on_health = nullptr;
    // What a watchdog asks of the control thread's loop (`WatchedThread::turn`); null: that one is
    // not watched.
    std::function<uint64_t()> control_turn = nullptr;
    // Has turns of the control thread's loop recorded from here on; null: nobody can.
    std::function<void(std::shared_ptr<stats::Block<stats::Dispatcher>>)> time_control_turns =
        nullptr;
    // Asks that the control thread takes the spans that there are; on any thread. Null: nobody
    // asks.
    std::function<void()> on_spans = nullptr;
    // Asks that the control thread calls takeDemands() soon; on any thread. Null: nobody does.
    std::function<void()> on_demand = nullptr;
    // Who drives the workers; null: each has a thread of its own.
    MakeDriver make_driver = nullptr;
  };
  // Why there is none: what the system refuses.
  static Result<std::shared_ptr<DataPlane>> create(const Options& options);
  explicit DataPlane(const Options& options);
  ~DataPlane();

  // What requests wait for, each once; see `on_demand`.
  std::set<filters::DemandKey> takeDemands() { return demands_.take(); }
  // What has been found out of hosts' health takes effect.
  void takeHealth();
  // As Clusters'.
  bool awaitsChecks() const { return clusters_.awaitsChecks(); }
  // When takeHealth() has something to do though nothing is found out, in milliseconds of
  // upstream::hostClockMs(); UINT64_MAX: never.
  uint64_t healthDue() { return is_stopping_ ? UINT64_MAX : clusters_.due(); }
  // Where it is posted, on any thread.
  const std::shared_ptr<upstream::HealthInbox>& healthInbox() { return health_; }

  // As the control plane encodes it, or decoded.
  std::vector<ApplyError> apply(const void* plan, size_t size);
  std::vector<ApplyError> apply(plan::Update update);
  // Errors of listeners: workers start all the same. Of workers: those that the system refuses.
  std::vector<ApplyError> start();

  // Its end, in three steps. First all workers are told to end their connections, side by side;
  // from here on nothing is applied any more, which is said to whoever tries, and nothing is
  // drained, handed over or profiled.
  void beginStop();
  // Any thread; blocks until the workers have ended, and what logs hold is written.
  void awaitStop();
  // What the workers had is freed.
  void endStop();
  // All of it.
  void stop();

  // Answers ask clients to close, as time goes on; see worker/drain.h.
  void startDrain(DrainScope scope, const net::DrainRamp& ramp);
  void cancelDrain() { drain_.cancel(); }
  void setHealthCheckFailed(bool failed) { drain_.setHealthCheckFailed(failed); }
  // Listen sockets close, once; connections go on, and the listeners stay known. Those that are
  // applied later are left out.
  void stopListening(DrainScope scope);
  void reopenLogs() { logs_.reopen(); }
  // Control thread: what is held for that service goes to the sink; it takes no more, or does
  // again.
  void flushServiceLog(uint32_t id) { service_logs_.flush(id); }
  void blockServiceLog(uint32_t id, bool is_blocked) { service_logs_.setBlocked(id, is_blocked); }
  // A request to the admin server.
  AdminLog& adminLog() { return admin_log_; }
  net::AllConnections& allConnections() { return *all_connections_; }

  // Null before start(), and after stop().
  std::unique_ptr<CpuProfile> profileCpu() const;

  // ---- hot restart: see worker/listen_sockets.h ----
  ListenSockets& listenSockets() { return listeners_.sockets(); }
  // A successor accepts connections: listeners at the addresses that it took are left to it, the
  // others close. Done once no worker takes connections any more.
  std::future<void> handOver(const std::set<std::string>& taken_addresses) {
    return listeners_.handOver(taken_addresses);
  }
  // The successor is gone: what was handed over is taken back. Errors are of what cannot be bound
  // again.
  std::vector<ApplyError> takeBack();

  stats::Registry& stats() { return registry_; }
  // Statistics that the control plane counts by itself: they are there from here on.
  void addHttp2Stats(upstream::Cluster& cluster);
  // Returns how their names begin: "grpc.<prefix>.", behind how the statistics of their owner do.
  const std::string& addGoogleGrpcStats(std::string_view stat_prefix, const std::string& owner);
  // Of listeners that come by LDS: "listener_manager.lds.".
  const std::string& addLdsStats();
  // Of clusters that come by CDS: "cluster_manager.cds.".
  const std::string& addCdsStats();
  // Of a route configuration that comes by RDS: "http.<http_prefix>.rds.<name>.".
  const std::string& addRdsStats(std::string_view http_prefix, std::string_view name);
  // Of a stream to a control plane: "<prefix>control_plane."; `prefix` is that of a subscription
  // whose own stream it is, or empty.
  const std::string& addControlPlaneStats(const std::string& prefix);
  // Of virtual hosts: "http.<http_prefix>.rds.vhds.<name>."
  const std::string& addVhdsStats(std::string_view http_prefix, std::string_view name);
  // Of scopes: "http.<http_prefix>.scoped_rds.<name>."
  const std::string& addScopedRdsStats(std::string_view http_prefix, std::string_view name);
  // Of extensions: "extension_config_discovery.<kind>.<name>."
  const std::string& addExtensionStats(std::string_view kind, std::string_view name);
  // Of endpoints that come one by one: "cluster.<cluster>.leds."
  const std::string& addLedsStats(std::string_view cluster);
  // Of clusters that requests ask for: "cluster_manager.odcds."
  const std::string& addOdcdsStats();
  // Of runtime layers that come by RTDS: "runtime.".
  const std::string& addRtdsStats();
  // Of who reports loads: "load_reporter."; of who checks what a control plane asks for:
  // "hds_delegate.".
  const std::string& addLoadReporterStats();
  const std::string& addHdsStats();
  // They end, unless somebody else has asked for the same.
  void removeStats(std::string_view prefix);
  // Of a secret that comes by SDS: "sds.<name>.".
  const std::string& addSdsStats(std::string_view secret);
  // Of a kind of tracer: "zipkin", "opentelemetry", "datadog" or "skywalking".
  const std::string& addTracerStats(std::string_view kind);
  // What was traced since the last time, see tracing/record.h; and how much was lost, ever.
  std::string takeSpans() { return spans_.take(); }
  uint64_t droppedSpans() const { return spans_.dropped(); }
  // Milliseconds since anybody asked for a name; 0: it is not known.
  uint64_t nameAgeMs(const std::string& cache, const std::string& name) const;
  unsigned workerCount() const { return options_.workers; }
  // Those that are made only when someone reads or they are sent: gauges of circuit breakers, and
  // faults by downstream cluster. `may_begin` as in stats/query.h: what thousands of clusters have
  // is made only where it may be shown.
  void refreshStats(const stats::NameTest& may_begin = {});
  // What has been replaced or removed and was still in use the last time is destroyed if it is no
  // more. Asked now and then.
  void sweep() {
    retired_.sweep();
    registry_.sweep();
  }

  std::vector<BoundListener> listeners() const { return listeners_.bound(); }
  // Of all listeners, as they are counted for their limits: this process's alone.
  uint64_t openConnections() const { return listeners_.openConnections(); }
  // By name: those that are in their places.
  const std::map<std::string, std::shared_ptr<upstream::Cluster>>& clusters() const {
    return clusters_.all();
  }
  // As Clusters'.
  std::shared_ptr<upstream::Cluster> findCluster(const std::string& name) const {
    return clusters_.findAny(name);
  }
  void beginRound(const std::string& cluster, bool with_earlier = false) {
    if (!is_stopping_) clusters_.beginRound(cluster, with_earlier);
  }
  bool awaitsRound(const std::string& cluster) const {
    return !is_stopping_ && clusters_.awaitsRound(cluster);
  }
  // As Listeners'.
  void announceListener(const std::string& name, bool is_in_place) {
    listeners_.announce(name, is_in_place);
  }
  void takeAnnouncementBack(const std::string& name, bool is_removed) {
    listeners_.takeAnnouncementBack(name, is_removed);
  }
  // By name: those that have waited take their places, and workers hear of all of them at once. Of
  // others, that they wait for nothing.
  void endWaits(const std::vector<std::string>& clusters);
  // By name: whether one waits for its hosts, or for its name. One that no longer does, and is not
  // in its place yet, takes it.
  void setWarming(const std::string& cluster, bool is_warming) {
    if (!is_warming) return endWaits({cluster});
    clusters_.setWarming(cluster, true);
  }

 private:
  void endWait(const std::string& cluster, Delta* delta);
  stats::Scope scopeOf(const std::string& owner) const;
  void applyToProcess(const plan::Update& update);
  // Workers look which of their connections drain.
  void tellDrain();
  void applyNames(const std::vector<plan::NameAnswer>& answers);
  void applyListeners(const plan::Update& update, std::vector<ApplyError>* errors);
  void publish(Delta delta);
  // Their statistics are there from here on.
  void declareOverload(const plan::OverloadManager& manager);
  void publishOverload(const plan::OverloadState& state);
  void applyDiscovered(const plan::DiscoveredFilter& plan, std::vector<ApplyError>* errors);
  void applyDiscovered(const plan::DiscoveredListenerFilter& plan, std::vector<ApplyError>* errors);
  void tellMet(const std::vector<plan::Demand>& demands);
  void applyTap(const plan::TapFilter& plan, std::vector<ApplyError>* errors);
  template <typename Plan>
  void applyLive(const filters::LiveValuesOf<Plan>& values, const char* what, const Plan& plan,
                 std::vector<ApplyError>* errors);
  void applyJwks(const plan::JwksUpdate& plan, std::vector<ApplyError>* errors);
  void openOutlierLog(const std::string& path, std::vector<ApplyError>* errors);
  void watch(const plan::Watchdogs& plan);
  // Records how long turns of all loops take.
  void timeTurns();
  void countMisses();
  void countWatchdogActions();
  void applyAdminLogs(const std::vector<plan::AccessLog>& plans, std::vector<ApplyError>* errors);

  const Options options_;
  const std::shared_ptr<upstream::HealthInbox> health_ =
      std::make_shared<upstream::HealthInbox>(options_.on_health);
  RuntimeSlots slots_;
  stats::Registry registry_;
  // Scopes that exist from the start.
  std::shared_ptr<stats::Block<stats::Filesystem>> filesystem_stats_;
  std::vector<std::shared_ptr<stats::BlockBase>> other_stats_;
  const std::shared_ptr<net::AllConnections> all_connections_ =
      std::make_shared<net::AllConnections>();
  // Of load shed points, and of the action that resets streams: where workers count.
  net::Overload::PointStats point_stats_;
  std::shared_ptr<stats::Block<stats::OverloadAction>> overload_action_stats_;
  // As net::Overload::Update.
  uint32_t min_account_power_ = 0;
  log_files::LogFiles logs_;
  access_log::ServiceLogs service_logs_{options_.workers + 1, logs_.post(), options_.entry_sink};
  AdminLog admin_log_;
  // The numbers of the names of clusters and route tables: held by much of what follows, so they go
  // after that.
  NameIds cluster_ids_;
  NameIds table_ids_;
  Retired retired_;
  TlsSockets tls_sockets_;
  upstream::NameCaches names_{registry_, options_.name_sink, options_.workers};
  health::Checker checker_{health_};
  Clusters clusters_;
  Drain drain_;
  tracing::Spans spans_{options_.workers, options_.on_spans};
  filters::Faults faults_;
  filters::LateCountsOfAll late_counts_;
  filters::Publishers publishers_;
  filters::Gates gates_;
  const std::shared_ptr<filters::WorkerCalls> worker_calls_ =
      std::make_shared<filters::WorkerCalls>();
  filters::Taps taps_{options_.tap_sink};
  filters::JwtKeyStores jwt_keys_{options_.asks};
  caches::CacheStores caches_{options_.workers};
  filters::LiveValues live_;
  filters::DiscoveredFilters discovered_;
  filters::DiscoveredListenerFilters discovered_listener_filters_;
  filters::Demands demands_{options_.on_demand};
  // What filters that routes name are built with.
  const std::function<filters::ConfigScope(const std::string& stat_prefix)> chain_scope_;
  RouteTables route_tables_;
  ListenerBuilder builder_;
  Listeners::Workers workers_;
  // One of each worker.
  std::vector<std::unique_ptr<Driver>> drivers_;
  Listeners listeners_;
  // Ends before those it watches. Null: nobody is watched.
  std::unique_ptr<Watchdog> watchdog_;
  struct WatchdogStats {
    std::shared_ptr<stats::Block<stats::Server>> server;
    std::shared_ptr<stats::Block<stats::Watchdog>> main;
    std::shared_ptr<stats::Block<stats::Watchdog>> workers;
    // Null: no action counts there.
    std::shared_ptr<stats::Block<stats::ProfileAction>> main_profiles = nullptr;
    std::shared_ptr<stats::Block<stats::ProfileAction>> worker_profiles = nullptr;
    std::shared_ptr<stats::Block<stats::BacktraceAction>> backtraces = nullptr;
    std::vector<std::shared_ptr<stats::Block<stats::ServerWorker>>> worker = {};
  };
  WatchdogStats watchdog_stats_;
  bool started_ = false;
  bool is_stopping_ = false;
  std::once_flag stop_awaited_;
};

}  // namespace fairlead::worker
