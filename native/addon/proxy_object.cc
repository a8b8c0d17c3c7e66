#include "addon/proxy_object.h"

#include <string_view>

#include "addon/edge.h"
#include "addon/process_state.h"
#include "base/mutex.h"
#include "worker/stats_settings.h"

namespace fairlead::addon {

namespace {

worker::DataPlane::Options dataPlaneOptions(const Napi::Object& options) {
  worker::DataPlane::Options settings;
  settings.workers = options.Get("concurrency").As<Napi::Number>().Uint32Value();
  settings.intervals.log_flush_ms =
      options.Get("fileFlushIntervalMs").As<Napi::Number>().Uint32Value();
  const Napi::Value flush_bytes = options.Get("logFlushBytes");
  if (flush_bytes.IsNumber()) {
    settings.log_flush_bytes = static_cast<size_t>(flush_bytes.As<Napi::Number>().Int64Value());
  }
  return settings;
}

}  // namespace

Napi::Function ProxyObject::define(const Napi::Env& env) {
  return DefineClass(env, "NativeProxy",
                     {
                         method<&ProxyLifecycle::apply>("apply"),
                         method<&ProxyLifecycle::start>("start"),
                         method<&ProxyLifecycle::listeners>("listeners"),
                         method<&ProxyLifecycle::announceListener>("announceListener"),
                         method<&ProxyLifecycle::takeAnnouncementBack>("takeAnnouncementBack"),
                         method<&ProxyLifecycle::startDrain>("startDrain"),
                         method<&ProxyLifecycle::cancelDrain>("cancelDrain"),
                         method<&ProxyLifecycle::stopListening>("stopListening"),
                         method<&ProxyLifecycle::awaitChecks>("awaitChecks"),
                         method<&ProxyLifecycle::awaitRound>("awaitRound"),
                         method<&ProxyLifecycle::setHealthCheckFailed>("setHealthCheckFailed"),
                         method<&ProxyLifecycle::onTrace>("onTrace"),
                         method<&ProxySpans::onSpans>("onSpans"),
                         method<&ProxySpans::takeSpans>("takeSpans"),
                         method<&ProxySpans::droppedSpans>("droppedSpans"),
                         method<&ProxyLifecycle::onName>("onName"),
                         method<&ProxyLifecycle::nameAge>("nameAge"),
                         method<&ProxyLifecycle::onLogEntries>("onLogEntries"),
                         method<&ProxyLifecycle::flushLogService>("flushLogService"),
                         method<&ProxyLifecycle::blockLogService>("blockLogService"),
                         method<&ProxyLifecycle::onAsk>("onAsk"),
                         method<&ProxyLifecycle::reopenLogs>("reopenLogs"),
                         method<&ProxyLifecycle::logAdminRequest>("logAdminRequest"),
                         method<&ProxyLifecycle::addConnection>("addConnection"),
                         method<&ProxyLifecycle::removeConnection>("removeConnection"),
                         method<&ProxyClusters::clusterPrefix>("clusterPrefix"),
                         method<&ProxyClusters::chooseHost>("chooseHost"),
                         method<&ProxyClusters::hostAdd>("hostAdd"),
                         method<&ProxyClusters::countAnswer>("countAnswer"),
                         method<&ProxyClusters::countRetried>("countRetried"),
                         method<&ProxyClusters::recordAnswerTime>("recordAnswerTime"),
                         method<&ProxyClusters::takeBudget>("takeBudget"),
                         method<&ProxyClusters::returnBudget>("returnBudget"),
                         method<&ProxyClusters::addHttp2Stats>("addHttp2Stats"),
                         method<&ProxyClusters::addGoogleGrpcStats>("addGoogleGrpcStats"),
                         method<&ProxyClusters::addTracerStats>("addTracerStats"),
                         method<&ProxyClusters::addLdsStats>("addLdsStats"),
                         method<&ProxyClusters::addCdsStats>("addCdsStats"),
                         method<&ProxyClusters::addControlPlaneStats>("addControlPlaneStats"),
                         method<&ProxyClusters::addRtdsStats>("addRtdsStats"),
                         method<&ProxyClusters::addLoadReporterStats>("addLoadReporterStats"),
                         method<&ProxyClusters::addHdsStats>("addHdsStats"),
                         method<&ProxyClusters::removeStats>("removeStats"),
                         method<&ProxyClusters::setWarming>("setWarming"),
                         method<&ProxyClusters::endWaits>("endWaits"),
                         method<&ProxyClusters::addRdsStats>("addRdsStats"),
                         method<&ProxyClusters::addSdsStats>("addSdsStats"),
                         method<&ProxyClusters::addVhdsStats>("addVhdsStats"),
                         method<&ProxyClusters::addScopedRdsStats>("addScopedRdsStats"),
                         method<&ProxyClusters::addLedsStats>("addLedsStats"),
                         method<&ProxyClusters::addExtensionStats>("addExtensionStats"),
                         method<&ProxyClusters::addOdcdsStats>("addOdcdsStats"),
                         method<&ProxyClusters::onDemands>("onDemands"),
                         method<&ProxyClusters::clusterStatus>("clusterStatus"),
                         method<&ProxyClusters::takeLoads>("takeLoads"),
                         method<&ProxyClusters::openClusters>("openClusters"),
                         method<&ProxyStats::stat>("stat"),
                         method<&ProxyStats::counterAdd>("counterAdd"),
                         method<&ProxyStats::gaugeSet>("gaugeSet"),
                         method<&ProxyStats::addTo>("addTo"),
                         method<&ProxyStats::tellUpdate>("tellUpdate"),
                         method<&ProxyStats::histogramRecord>("histogramRecord"),
                         method<&ProxyStats::textSet>("textSet"),
                         method<&ProxyStats::isStat>("isStat"),
                         method<&ProxyStats::statValue>("statValue"),
                         method<&ProxyStats::flushHistograms>("flushHistograms"),
                         method<&ProxyStats::resetCounters>("resetCounters"),
                         method<&ProxyStats::lostSamples>("lostSamples"),
                         method<&ProxyStats::openStats>("openStats"),
                         method<&ProxySinks::openFlush>("openFlush"),
                         method<&ProxySinks::nextOfFlush>("nextOfFlush"),
                         method<&ProxySinks::takeSamples>("takeSamples"),
                         method<&ProxySinks::openHystrix>("openHystrix"),
                         method<&ProxySinks::resetHystrix>("resetHystrix"),
                         method<&ProxyCpuProfile::startCpuProfile>("startCpuProfile"),
                         method<&ProxyCpuProfile::readCpuProfile>("readCpuProfile"),
                         method<&ProxyCpuProfile::stopCpuProfile>("stopCpuProfile"),
                         method<&ProxyHotRestart::openConnections>("openConnections"),
                         method<&ProxyHotRestart::inherit>("inherit"),
                         method<&ProxyHotRestart::endInheritance>("endInheritance"),
                         method<&ProxyHotRestart::listenSockets>("listenSockets"),
                         method<&ProxyHotRestart::handOver>("handOver"),
                         method<&ProxyHotRestart::takeBack>("takeBack"),
                         method<&ProxyHotRestart::exportStats>("exportStats"),
                         method<&ProxyHotRestart::beginExport>("beginExport"),
                         method<&ProxyHotRestart::importStats>("importStats"),
                         method<&ProxyHotRestart::endImports>("endImports"),
                         InstanceMethod<&ProxyObject::shutdown>("shutdown"),
                         InstanceMethod<&ProxyObject::memory>("memory"),
                         InstanceMethod<&ProxyObject::contention>("contention"),
                     });
}

ProxyObject::ProxyObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  const Napi::Object options = info[0].As<Napi::Object>();
  worker::DataPlane::Options settings = dataPlaneOptions(options);
  if (options.Get("tracesLocks").ToBoolean()) traceMutexes();
  if (settings.workers == 0) {
    fail(info.Env(), "concurrency must be at least 1");
    return;
  }
  const std::string_view stats = bytesOf(options.Get("stats"));
  const auto stats_settings = plan::readStatsSettings(stats.data(), stats.size());
  if (!stats_settings) {
    fail(info.Env(), stats_settings.error().message);
    return;
  }
  for (const plan::SinkFormat& sink : stats_settings.value().sinks) {
    if (sink.kind != plan::SinkFormat::Kind::Metrics) settings.keeps_samples = true;
  }
  settings.zone = stats_settings.value().zone;
  const auto traces = std::make_shared<TracePipe>();
  settings.tap_sink = traces;
  const auto names = std::make_shared<NamePipe>();
  settings.name_sink = names;
  const auto entries = std::make_shared<TracePipe>();
  settings.entry_sink = entries;
  const auto asks = std::make_shared<AskPipe>();
  settings.asks = asks;
  const auto health = std::make_shared<ControlCall>();
  settings.on_health = [health] { health->ask(); };
  const auto turns = ControlTurns::create(info.Env());
  settings.control_turn = [turns] { return turns->now(); };
  settings.time_control_turns = [turns](std::shared_ptr<stats::Block<stats::Dispatcher>> times) {
    turns->timeIn(std::move(times));
  };
  const auto spans = std::make_shared<ControlCall>();
  settings.on_spans = [spans] { spans->ask(); };
  const auto demands = std::make_shared<ControlCall>();
  settings.on_demand = [demands] { demands->ask(); };
  const auto created = worker::DataPlane::create(settings);
  if (!created) {
    fail(info.Env(), created.error().message);
    return;
  }
  const std::shared_ptr<worker::DataPlane>& data_plane = created.value();
  stats::Registry* registry = &data_plane->stats();
  const auto applied = worker::applyStatsSettings(stats_settings.value(), registry);
  if (!applied) {
    fail(info.Env(), applied.error().message);
    return;
  }
  auto sinks = worker::StatsSinks::build(stats_settings.value().sinks, registry);
  if (!sinks) {
    fail(info.Env(), sinks.error().message);
    return;
  }
  std::unique_ptr<worker::HystrixEvents> hystrix;
  if (const uint32_t buckets = stats_settings.value().hystrix_buckets) {
    const uint32_t interval_ms = stats_settings.value().flush_interval_ms;
    hystrix = std::make_unique<worker::HystrixEvents>(*data_plane, buckets, interval_ms);
  }
  const auto take = [plane = std::weak_ptr(data_plane)]() -> uint64_t {
    const auto alive = plane.lock();
    if (!alive) return UINT64_MAX;
    alive->takeHealth();
    return alive->healthDue();
  };
  const auto timer = ControlTimer::create(info.Env(), take);
  ProxyLifecycle lifecycle(data_plane, {traces, entries, names, asks}, health, timer, turns);
  lifecycle.openHealth(info.Env());
  add(std::move(lifecycle));
  add(ProxyClusters(data_plane, demands));
  add(ProxyStats(data_plane));
  add(ProxySinks(data_plane, std::move(sinks.value()), std::move(hystrix)));
  add(ProxySpans(data_plane, spans));
  add(ProxyCpuProfile(data_plane));
  add(ProxyHotRestart(data_plane));
}

Napi::Value ProxyObject::shutdown(const Napi::CallbackInfo& info) {
  std::get<std::unique_ptr<ProxyCpuProfile>>(parts_)->cancel();
  return ask(&ProxyLifecycle::shutdown, info);
}

Napi::Value ProxyObject::memory(const Napi::CallbackInfo& info) {
  return addon::memory(info.Env());
}

Napi::Value ProxyObject::contention(const Napi::CallbackInfo& info) {
  return addon::contention(info.Env());
}

}  // namespace fairlead::addon
