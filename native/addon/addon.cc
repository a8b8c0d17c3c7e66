// The edge to Node, as addon/log_object is; no other file speaks N-API. Checks every argument (TypeScript has checked
// them before; a mistake here must throw, not crash), and translates. The control thread's.
#include <malloc.h>
#include <napi.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "addon/log_object.h"
#include "addon/trace_pipe.h"
#include "base/mutex.h"
#include "addon/edge.h"
#include "addon/hot_restart.h"
#include "base/regex.h"
#include "hot_restart/stats_transfer.h"
#include "stats/query.h"
#include "worker/clusters_page.h"
#include "worker/data_plane.h"
#include "worker/hystrix_events.h"
#include "worker/stats_settings.h"
#include "worker/stats_sinks.h"

namespace fairlead::addon {

namespace {

// A filter on names: a program of src/plan/regex.ts, searched; empty when there is none.
Result<std::function<bool(std::string_view)>> filterOf(const Napi::Value& value) {
  std::function<bool(std::string_view)> filter;
  if (!value.IsTypedArray()) return filter;
  Result<Regex> regex = Regex::load(bytesOf(value));
  if (!regex) return regex.error();
  filter = [regex = regex.value()](std::string_view name) { return regex.search(name); };
  return filter;
}

// A long answer, handed out piece by piece.
class PageObject final : public Napi::ObjectWrap<PageObject> {
 public:
  static Napi::Object make(const Napi::Env& env, std::unique_ptr<stats::Page> page) {
    const Napi::Function constructor =
        DefineClass(env, "Page", {InstanceMethod("next", &PageObject::next)});
    const Napi::Object object = constructor.New({});
    Unwrap(object)->page_ = std::move(page);
    return object;
  }
  explicit PageObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {}

 private:
  Napi::Value next(const Napi::CallbackInfo& info) {
    if (!page_) return info.Env().Null();
    std::string piece;
    if (!page_->next(&piece)) page_.reset();
    return Napi::Buffer<char>::Copy(info.Env(), piece.data(), piece.size());
  }

  std::unique_ptr<stats::Page> page_;
};

// Joins the worker threads off the control thread, which goes on serving.
class Shutdown final : public Napi::AsyncWorker {
 public:
  Shutdown(const Napi::Env& env, std::shared_ptr<worker::DataPlane> data_plane,
           std::shared_ptr<TracePipe> traces)
      : AsyncWorker(env),
        done_(Napi::Promise::Deferred::New(env)),
        data_plane_(std::move(data_plane)),
        traces_(std::move(traces)) {}
  Napi::Promise promise() const { return done_.Promise(); }

 private:
  void Execute() override { data_plane_->stop(); }
  void OnOK() override {
    traces_->close();
    data_plane_->listenSockets().closeAll();
    done_.Resolve(Env().Undefined());
  }

  Napi::Promise::Deferred done_;
  std::shared_ptr<worker::DataPlane> data_plane_;
  std::shared_ptr<TracePipe> traces_;
};

class ProxyObject final : public Napi::ObjectWrap<ProxyObject> {
  using StatId = stats::Registry::StatId;

 public:
  static Napi::Function define(const Napi::Env& env) {
    return DefineClass(env, "NativeProxy",
                       {InstanceMethod("apply", &ProxyObject::apply),
                        InstanceMethod("start", &ProxyObject::start),
                        InstanceMethod("listeners", &ProxyObject::listeners),
                        InstanceMethod("startDrain", &ProxyObject::startDrain),
                        InstanceMethod("cancelDrain", &ProxyObject::cancelDrain),
                        InstanceMethod("stopListening", &ProxyObject::stopListening),
                        InstanceMethod("setHealthCheckFailed", &ProxyObject::setHealthCheckFailed),
                        InstanceMethod("onTrace", &ProxyObject::onTrace),
                        InstanceMethod("shutdown", &ProxyObject::shutdown),
                        InstanceMethod("reopenLogs", &ProxyObject::reopenLogs),
                        InstanceMethod("stat", &ProxyObject::stat),
                        InstanceMethod("counterAdd", &ProxyObject::counterAdd),
                        InstanceMethod("gaugeSet", &ProxyObject::gaugeSet),
                        InstanceMethod("histogramRecord", &ProxyObject::histogramRecord),
                        InstanceMethod("textSet", &ProxyObject::textSet),
                        InstanceMethod("statValue", &ProxyObject::statValue),
                        InstanceMethod("flushHistograms", &ProxyObject::flushHistograms),
                        InstanceMethod("resetCounters", &ProxyObject::resetCounters),
                        InstanceMethod("openStats", &ProxyObject::openStats),
                        InstanceMethod("openHystrix", &ProxyObject::openHystrix),
                        InstanceMethod("resetHystrix", &ProxyObject::resetHystrix),
                        InstanceMethod("openFlush", &ProxyObject::openFlush),
                        InstanceMethod("nextOfFlush", &ProxyObject::nextOfFlush),
                        InstanceMethod("takeSamples", &ProxyObject::takeSamples),
                        InstanceMethod("lostSamples", &ProxyObject::lostSamples),
                        InstanceMethod("clusterHosts", &ProxyObject::clusterHosts),
                        InstanceMethod("openClusters", &ProxyObject::openClusters),
                        InstanceMethod("clusterStatus", &ProxyObject::clusterStatus),
                        InstanceMethod("memory", &ProxyObject::memory),
                        InstanceMethod("contention", &ProxyObject::contention),
                        InstanceMethod("startCpuProfile", &ProxyObject::startCpuProfile),
                        InstanceMethod("readCpuProfile", &ProxyObject::readCpuProfile),
                        InstanceMethod("stopCpuProfile", &ProxyObject::stopCpuProfile),
                        InstanceMethod("inherit", &ProxyObject::inherit),
                        InstanceMethod("endInheritance", &ProxyObject::endInheritance),
                        InstanceMethod("listenSockets", &ProxyObject::listenSockets),
                        InstanceMethod("handOver", &ProxyObject::handOver),
                        InstanceMethod("takeBack", &ProxyObject::takeBack),
                        InstanceMethod("exportStats", &ProxyObject::exportStats),
                        InstanceMethod("forgetExport", &ProxyObject::forgetExport),
                        InstanceMethod("importStats", &ProxyObject::importStats),
                        InstanceMethod("dropImportedGauges", &ProxyObject::dropImportedGauges)});
  }

  explicit ProxyObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    const Napi::Object options = info[0].As<Napi::Object>();
    worker::DataPlane::Options settings;
    settings.workers = options.Get("concurrency").As<Napi::Number>().Uint32Value();
    settings.log_flush_ms = options.Get("fileFlushIntervalMs").As<Napi::Number>().Uint32Value();
    const Napi::Value hand_over = options.Get("logHandOverBytes");
    if (hand_over.IsNumber()) {
      settings.log_hand_over_bytes =
          static_cast<size_t>(hand_over.As<Napi::Number>().Int64Value());
    }
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
    settings.tap_sink = traces_;
    data_plane_ = std::make_shared<worker::DataPlane>(settings);
    stats::Registry* registry = &data_plane_->stats();
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
    sinks_ = std::move(sinks.value());
    if (const uint32_t buckets = stats_settings.value().hystrix_buckets) {
      const uint32_t interval_ms = stats_settings.value().flush_interval_ms;
      hystrix_ = std::make_unique<worker::HystrixEvents>(*data_plane_, buckets, interval_ms);
    }
  }

 private:
  Napi::Value apply(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    if (!info[0].IsTypedArray()) return fail(env, "apply() takes the bytes of an update");
    const std::string_view bytes = bytesOf(info[0]);
    return errorList(env, data_plane_->apply(bytes.data(), bytes.size()));
  }

  static Napi::Value errorList(const Napi::Env& env,
                               const std::vector<worker::ApplyError>& errors) {
    const Napi::Array result = Napi::Array::New(env, errors.size());
    for (uint32_t i = 0; i < errors.size(); ++i) {
      const Napi::Object item = Napi::Object::New(env);
      item.Set("kind", errors[i].kind);
      item.Set("name", errors[i].name);
      item.Set("message", errors[i].message);
      result.Set(i, item);
    }
    return result;
  }

  void start(const Napi::CallbackInfo&) { data_plane_->start(); }
  static std::optional<worker::DrainScope> scopeOf(const Napi::CallbackInfo& info) {
    const std::string scope = info[0].ToString().Utf8Value();
    if (scope == "all") return worker::DrainScope::All;
    if (scope == "inbound") return worker::DrainScope::Inbound;
    fail(info.Env(), "the scope of a drain is 'all' or 'inbound'");
    return std::nullopt;
  }
  void startDrain(const Napi::CallbackInfo& info) {
    const std::optional<worker::DrainScope> scope = scopeOf(info);
    if (!scope) return;
    const bool immediate = info[2].ToString().Utf8Value() == "immediate";
    const auto strategy =
        immediate ? worker::DrainStrategy::Immediate : worker::DrainStrategy::Gradual;
    data_plane_->startDrain(*scope, worker::drainRamp(info[1].ToNumber().Uint32Value(), strategy));
  }
  void cancelDrain(const Napi::CallbackInfo&) { data_plane_->cancelDrain(); }
  void stopListening(const Napi::CallbackInfo& info) {
    if (const auto scope = scopeOf(info)) data_plane_->stopListening(*scope);
  }
  void setHealthCheckFailed(const Napi::CallbackInfo& info) {
    data_plane_->setHealthCheckFailed(info[0].ToBoolean());
  }
  void reopenLogs(const Napi::CallbackInfo&) { data_plane_->reopenLogs(); }

  void onTrace(const Napi::CallbackInfo& info) {
    if (!info[0].IsFunction()) {
      fail(info.Env(), "onTrace() takes a function");
      return;
    }
    traces_->open(info.Env(), info[0].As<Napi::Function>());
  }

  Napi::Value shutdown(const Napi::CallbackInfo& info) {
    cpu_profile_.reset();
    auto* work = new Shutdown(info.Env(), data_plane_, traces_);
    const Napi::Promise promise = work->promise();
    work->Queue();
    return promise;
  }

  Napi::Value listeners(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const auto& bound = data_plane_->listeners();
    const Napi::Array result = Napi::Array::New(env, bound.size());
    for (uint32_t i = 0; i < bound.size(); ++i) {
      const Napi::Object item = Napi::Object::New(env);
      item.Set("name", bound[i].name);
      item.Set("statName", bound[i].stat_name);
      item.Set("address", bound[i].address.ip());
      item.Set("port", bound[i].address.port());
      result.Set(i, item);
    }
    return result;
  }

  // Absent: there is no such cluster.
  Napi::Value clusterHosts(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const auto found = data_plane_->clusters().find(info[0].ToString().Utf8Value());
    if (found == data_plane_->clusters().end()) return env.Undefined();
    const Napi::Array result = Napi::Array::New(env);
    if (!found->second->hosts()) return result;
    for (const auto& host : found->second->hosts()->hosts()) {
      const Napi::Object item = Napi::Object::New(env);
      item.Set("address", host->address().ip());
      item.Set("port", host->address().port());
      result.Set(result.Length(), item);
    }
    return result;
  }

  // ---- statistics ----

  Napi::Value stat(const Napi::CallbackInfo& info) {
    const std::string name = info[0].ToString().Utf8Value();
    const std::optional<StatId> id = data_plane_->stats().idOf(name);
    if (!id) return fail(info.Env(), "there is no statistic '" + name + "'");
    ids_.insert(*id);
    return Napi::Number::New(info.Env(), static_cast<double>(*id));
  }

  // The handle that a call names; throws for what stat() never gave.
  std::optional<StatId> idOf(const Napi::CallbackInfo& info) {
    const StatId id = info[0].ToNumber().Uint32Value();
    if (ids_.contains(id)) return id;
    fail(info.Env(), "not a handle of stat()");
    return std::nullopt;
  }
  static uint64_t amountOf(const Napi::CallbackInfo& info) {
    return static_cast<uint64_t>(info[1].ToNumber().Int64Value());
  }

  void counterAdd(const Napi::CallbackInfo& info) {
    if (const auto id = idOf(info)) data_plane_->stats().add(*id, amountOf(info));
  }
  void gaugeSet(const Napi::CallbackInfo& info) {
    if (const auto id = idOf(info)) data_plane_->stats().set(*id, amountOf(info));
  }
  void histogramRecord(const Napi::CallbackInfo& info) {
    if (const auto id = idOf(info)) data_plane_->stats().record(*id, amountOf(info));
  }
  void textSet(const Napi::CallbackInfo& info) {
    if (const auto id = idOf(info)) {
      data_plane_->stats().setText(*id, info[1].ToString().Utf8Value());
    }
  }

  Napi::Value statValue(const Napi::CallbackInfo& info) {
    const std::string name = info[0].ToString().Utf8Value();
    if (name.find(".circuit_breakers.") != std::string::npos) data_plane_->refreshGauges();
    const auto value = data_plane_->stats().value(name);
    if (!value) return info.Env().Undefined();
    return Napi::Number::New(info.Env(), static_cast<double>(*value));
  }

  void flushHistograms(const Napi::CallbackInfo&) { data_plane_->stats().flushHistograms(); }
  void resetCounters(const Napi::CallbackInfo&) { data_plane_->stats().resetCounters(); }

  // ---- sinks ----

  Napi::Value openHystrix(const Napi::CallbackInfo& info) {
    if (!hystrix_) return fail(info.Env(), "there is no hystrix sink");
    return PageObject::make(info.Env(), hystrix_->open(info[0].ToNumber().Int64Value()));
  }
  void resetHystrix(const Napi::CallbackInfo&) {
    if (hystrix_) hystrix_->reset();
  }

  void openFlush(const Napi::CallbackInfo& info) { sinks_->open(info[0].ToNumber().Int64Value()); }
  Napi::Value nextOfFlush(const Napi::CallbackInfo& info) {
    std::vector<std::string> pieces;
    const bool more = sinks_->next(&pieces);
    return piecesOf(info.Env(), pieces, more);
  }
  Napi::Value takeSamples(const Napi::CallbackInfo& info) {
    std::vector<std::string> pieces;
    const bool more = sinks_->takeSamples(&pieces);
    return piecesOf(info.Env(), pieces, more);
  }
  static Napi::Value piecesOf(const Napi::Env& env, const std::vector<std::string>& pieces,
                              bool more) {
    const Napi::Array list = Napi::Array::New(env, pieces.size());
    for (uint32_t i = 0; i < pieces.size(); ++i) {
      list.Set(i, Napi::Buffer<char>::Copy(env, pieces[i].data(), pieces[i].size()));
    }
    const Napi::Object result = Napi::Object::New(env);
    result.Set("pieces", list);
    result.Set("more", more);
    return result;
  }
  Napi::Value lostSamples(const Napi::CallbackInfo& info) {
    return Napi::Number::New(info.Env(), static_cast<double>(data_plane_->stats().lostSamples()));
  }

  Napi::Value openStats(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const Napi::Object wanted = info[0].As<Napi::Object>();
    const auto flag = [&](const char* name) { return wanted.Get(name).ToBoolean().Value(); };
    const auto text = [&](const char* name) {
      const Napi::Value value = wanted.Get(name);
      return value.IsString() ? value.ToString().Utf8Value() : std::string();
    };
    stats::Query query;
    query.used_only = flag("usedOnly");
    auto filter = filterOf(wanted.Get("filter"));
    if (!filter) return fail(env, filter.error().message);
    query.filter = std::move(filter.value());
    query.invert_filter = flag("invertFilter");
    query.text_readouts = flag("textReadouts");
    query.hidden_only = text("hidden") == "only";
    const std::string type = text("type");
    const bool all = type.empty() || type == "All";
    query.counters = all || type == "Counters";
    query.gauges = all || type == "Gauges";
    query.histograms = all || type == "Histograms";
    query.texts = all || type == "TextReadouts";
    const std::string format = text("format");
    const std::string buckets = text("histogramBuckets");
    if (buckets == "summary") query.buckets = stats::Buckets::Summary;
    if (buckets == "cumulative") query.buckets = stats::Buckets::Cumulative;
    if (buckets == "disjoint") query.buckets = stats::Buckets::Disjoint;
    if (buckets == "detailed") query.buckets = stats::Buckets::Detailed;
    data_plane_->refreshGauges();
    const stats::Registry& registry = data_plane_->stats();
    std::unique_ptr<stats::Page> page = format == "json" ? stats::openJson(registry, query)
                                        : format == "prometheus"
                                            ? stats::openPrometheus(registry, query)
                                            : stats::openText(registry, query);
    return PageObject::make(env, std::move(page));
  }

  Napi::Value openClusters(const Napi::CallbackInfo& info) {
    auto filter = filterOf(info[1]);
    if (!filter) return fail(info.Env(), filter.error().message);
    const bool json = info[0].ToString().Utf8Value() == "json";
    return PageObject::make(
        info.Env(), json ? worker::openClustersJson(*data_plane_, std::move(filter.value()))
                         : worker::openClustersText(*data_plane_, std::move(filter.value())));
  }

  // Absent: there is no such cluster.
  Napi::Value clusterStatus(const Napi::CallbackInfo& info) {
    const auto found = data_plane_->clusters().find(info[0].ToString().Utf8Value());
    if (found == data_plane_->clusters().end()) return info.Env().Undefined();
    return Napi::String::New(info.Env(), worker::clusterStatusJson(*found->second));
  }

  Napi::Value memory(const Napi::CallbackInfo& info) {
    const struct mallinfo2 now = ::mallinfo2();
    const Napi::Object result = Napi::Object::New(info.Env());
    const auto set = [&result, &info](const char* name, size_t value) {
      result.Set(name, Napi::Number::New(info.Env(), static_cast<double>(value)));
    };
    set("allocated", now.uordblks + now.hblkhd);
    set("heapSize", now.arena + now.hblkhd);
    set("free", now.fordblks);
    return result;
  }

  Napi::Value contention(const Napi::CallbackInfo& info) {
    const Contention now = fairlead::contention();
    const Napi::Object result = Napi::Object::New(info.Env());
    const auto set = [&result, &info](const char* name, uint64_t value) {
      result.Set(name, Napi::BigInt::New(info.Env(), value));
    };
    set("count", now.count);
    set("lastWaitCycles", now.last_wait_cycles);
    set("totalWaitCycles", now.total_wait_cycles);
    return result;
  }

  // ---- profiles ----

  Napi::Value startCpuProfile(const Napi::CallbackInfo& info) {
    if (!cpu_profile_) cpu_profile_ = data_plane_->profileCpu();
    return Napi::Boolean::New(info.Env(), cpu_profile_ != nullptr);
  }

  // A list of worker, number of addresses, addresses.
  Napi::Value readCpuProfile(const Napi::CallbackInfo& info) {
    std::vector<double> words;
    if (cpu_profile_) {
      cpu_profile_->drain([&](unsigned worker, std::span<const uintptr_t> addresses) {
        words.push_back(worker);
        words.push_back(static_cast<double>(addresses.size()));
        words.insert(words.end(), addresses.begin(), addresses.end());
      });
    }
    Napi::Float64Array result = Napi::Float64Array::New(info.Env(), words.size());
    std::copy(words.begin(), words.end(), result.Data());
    return result;
  }

  Napi::Value stopCpuProfile(const Napi::CallbackInfo& info) {
    if (cpu_profile_) cpu_profile_->stop();
    const Napi::Value rest = readCpuProfile(info);
    cpu_profile_.reset();
    return rest;
  }

  // ---- hot restart ----

  // inherit([{listener, address, anyPort, fd}]): the descriptors are this object's from here on.
  void inherit(const Napi::CallbackInfo& info) {
    const Napi::Array list = info[0].As<Napi::Array>();
    for (uint32_t i = 0; i < list.Length(); ++i) {
      const Napi::Object item = list.Get(i).As<Napi::Object>();
      auto socket = std::make_shared<const net::FileDescriptor>(
          item.Get("fd").ToNumber().Int32Value());
      data_plane_->listenSockets().inherit({item.Get("listener").ToString().Utf8Value(),
                                            item.Get("address").ToString().Utf8Value(),
                                            item.Get("anyPort").ToBoolean(), std::move(socket)});
    }
  }

  Napi::Value endInheritance(const Napi::CallbackInfo& info) {
    data_plane_->stats().markImportedSent();
    const std::set<std::string> taken = data_plane_->listenSockets().endInheritance();
    const Napi::Array result = Napi::Array::New(info.Env(), taken.size());
    uint32_t i = 0;
    for (const std::string& address : taken) result.Set(i++, address);
    return result;
  }

  // The descriptors stay the data plane's: they are good until listeners change.
  Napi::Value listenSockets(const Napi::CallbackInfo& info) {
    const std::vector<worker::PassedSocket> sockets = data_plane_->listenSockets().all();
    const Napi::Array result = Napi::Array::New(info.Env(), sockets.size());
    for (uint32_t i = 0; i < sockets.size(); ++i) {
      const Napi::Object item = Napi::Object::New(info.Env());
      item.Set("listener", sockets[i].listener);
      item.Set("address", sockets[i].address);
      item.Set("anyPort", sockets[i].any_port);
      item.Set("fd", sockets[i].socket->get());
      result.Set(i, item);
    }
    return result;
  }

  void handOver(const Napi::CallbackInfo& info) {
    const Napi::Array list = info[0].As<Napi::Array>();
    std::set<std::string> taken;
    for (uint32_t i = 0; i < list.Length(); ++i) taken.insert(list.Get(i).ToString().Utf8Value());
    data_plane_->handOver(taken);
  }
  Napi::Value takeBack(const Napi::CallbackInfo& info) {
    return errorList(info.Env(), data_plane_->takeBack());
  }

  // exportStats(maxBytes): {batch, more}
  Napi::Value exportStats(const Napi::CallbackInfo& info) {
    if (!export_) export_ = std::make_unique<hot_restart::StatsExport>(data_plane_->stats());
    data_plane_->refreshGauges();
    std::string batch;
    const bool more = export_->next(&batch, info[0].ToNumber().Uint32Value());
    const Napi::Object result = Napi::Object::New(info.Env());
    result.Set("batch", Napi::Buffer<char>::Copy(info.Env(), batch.data(), batch.size()));
    result.Set("more", more);
    return result;
  }
  void forgetExport(const Napi::CallbackInfo&) { export_.reset(); }

  void importStats(const Napi::CallbackInfo& info) {
    const Result<void> done =
        hot_restart::importStats(data_plane_->stats(), bytesOf(info[0]));
    if (!done) fail(info.Env(), done.error().message);
  }
  void dropImportedGauges(const Napi::CallbackInfo&) { data_plane_->stats().dropImportedGauges(); }

  const std::shared_ptr<TracePipe> traces_ = std::make_shared<TracePipe>();
  std::shared_ptr<worker::DataPlane> data_plane_;
  // Before the workers that it samples.
  std::unique_ptr<worker::CpuProfile> cpu_profile_;
  std::unique_ptr<worker::StatsSinks> sinks_;
  // Null: nobody wants its events.
  std::unique_ptr<worker::HystrixEvents> hystrix_;
  // While a successor asks.
  std::unique_ptr<hot_restart::StatsExport> export_;
  std::unordered_set<StatId> ids_;
};

Napi::Value create(const Napi::CallbackInfo& info) {
  if (!info[0].IsObject()) return fail(info.Env(), "create() takes options");
  const Napi::Function constructor = ProxyObject::define(info.Env());
  return constructor.New({info[0]});
}

// Whether the kernel may write a core dump of this process, and how large it may be: 0 for none.
Napi::Value enableCoreDump(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (::prctl(PR_SET_DUMPABLE, 1) != 0) return fail(env, std::strerror(errno));
  struct rlimit limit = {};
  ::getrlimit(RLIMIT_CORE, &limit);
  return Napi::Number::New(env, static_cast<double>(limit.rlim_cur));
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  exports.Set("enableCoreDump", Napi::Function::New(env, enableCoreDump));
  exports.Set("create", Napi::Function::New(env, create));
  exports.Set("log", makeLog(env));
  exportHotRestart(env, exports);
  return exports;
}

}  // namespace

Napi::Object load(Napi::Env env, Napi::Object exports) { return init(env, exports); }

}  // namespace fairlead::addon

// The macro makes names of the function's, so it wants a plain one.
static Napi::Object loadAddon(Napi::Env env, Napi::Object exports) {
  return fairlead::addon::load(env, exports);
}
NODE_API_MODULE(fairlead, loadAddon)
