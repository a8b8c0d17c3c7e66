#include "addon/proxy_stats.h"

#include <string>

#include "addon/edge.h"
#include "addon/name_filter.h"
#include "addon/page_object.h"
#include "base/xxhash.h"
#include "stats/query.h"

namespace fairlead::addon {

namespace {

uint64_t amountOf(const Napi::CallbackInfo& info) {
  return static_cast<uint64_t>(info[1].ToNumber().Int64Value());
}

// Empty for what is no text.
std::string textOf(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  return value.IsString() ? value.ToString().Utf8Value() : std::string();
}

Result<stats::Query> queryOf(const Napi::Object& wanted) {
  const auto flag = [&](const char* name) { return wanted.Get(name).ToBoolean().Value(); };
  stats::Query query;
  query.used_only = flag("usedOnly");
  query.invert_filter = flag("invertFilter");
  const auto filter = nameRegexOf(wanted.Get("filter"));
  if (!filter) return filter.error();
  if (const std::optional<Regex>& regex = filter.value()) {
    query.filter = [regex = *regex](std::string_view name) { return regex.search(name); };
    if (!query.invert_filter) {
      query.may_begin = [regex = *regex](std::string_view prefix) { return regex.mayBeIn(prefix); };
    }
  }
  query.text_readouts = flag("textReadouts");
  query.hidden_only = textOf(wanted, "hidden") == "only";
  const std::string type = textOf(wanted, "type");
  const bool all = type.empty() || type == "All";
  query.counters = all || type == "Counters";
  query.gauges = all || type == "Gauges";
  query.histograms = all || type == "Histograms";
  query.texts = all || type == "TextReadouts";
  const std::string buckets = textOf(wanted, "histogramBuckets");
  if (buckets == "summary") query.buckets = stats::Buckets::Summary;
  if (buckets == "cumulative") query.buckets = stats::Buckets::Cumulative;
  if (buckets == "disjoint") query.buckets = stats::Buckets::Disjoint;
  if (buckets == "detailed") query.buckets = stats::Buckets::Detailed;
  const Napi::Value native_buckets = wanted.Get("nativeBuckets");
  if (native_buckets.IsNumber()) query.native_buckets = native_buckets.ToNumber().Uint32Value();
  return query;
}

}  // namespace

Napi::Value ProxyStats::stat(const Napi::CallbackInfo& info) {
  const std::string name = info[0].ToString().Utf8Value();
  const std::optional<StatId> id = data_plane_->stats().idOf(name);
  if (id) return Napi::Number::New(info.Env(), static_cast<double>(*id));
  if (!data_plane_->stats().hasScopeOf(name)) return info.Env().Undefined();
  return fail(info.Env(), "there is no statistic '" + name + "'");
}

std::optional<ProxyStats::StatId> ProxyStats::idOf(const Napi::CallbackInfo& info) {
  const auto id = static_cast<StatId>(info[0].ToNumber().Int64Value());
  if (data_plane_->stats().isGiven(id)) return id;
  fail(info.Env(), "not a handle of stat()");
  return std::nullopt;
}

Napi::Value ProxyStats::counterAdd(const Napi::CallbackInfo& info) {
  const auto id = idOf(info);
  if (!id) return info.Env().Undefined();
  return Napi::Boolean::New(info.Env(), data_plane_->stats().add(*id, amountOf(info)));
}

Napi::Value ProxyStats::gaugeSet(const Napi::CallbackInfo& info) {
  const auto id = idOf(info);
  if (!id) return info.Env().Undefined();
  return Napi::Boolean::New(info.Env(), data_plane_->stats().set(*id, amountOf(info)));
}

Napi::Value ProxyStats::addTo(const Napi::CallbackInfo& info) {
  const std::string name = info[0].ToString().Utf8Value();
  return Napi::Boolean::New(info.Env(), data_plane_->stats().addTo(name, amountOf(info)));
}

void ProxyStats::tellUpdate(const Napi::CallbackInfo& info) {
  stats::Registry& stats = data_plane_->stats();
  std::string name = info[0].ToString().Utf8Value();
  const size_t stem = name.size();
  const auto named = [&name, stem](std::string_view rest) -> std::string_view {
    name.resize(stem);
    return name.append(rest);
  };
  std::string version = info[1].ToString().Utf8Value();
  stats.setTo(named("update_time"), static_cast<uint64_t>(info[2].ToNumber().Int64Value()));
  stats.recordIn(named("update_duration"), static_cast<uint64_t>(info[3].ToNumber().Int64Value()));
  stats.setTo(named("version"), xxHash64(version));
  stats.setTextOf(named("version_text"), std::move(version));
  stats.addTo(named("update_success"), 1);
}

Napi::Value ProxyStats::histogramRecord(const Napi::CallbackInfo& info) {
  const auto id = idOf(info);
  if (!id) return info.Env().Undefined();
  return Napi::Boolean::New(info.Env(), data_plane_->stats().record(*id, amountOf(info)));
}

Napi::Value ProxyStats::textSet(const Napi::CallbackInfo& info) {
  const auto id = idOf(info);
  if (!id) return info.Env().Undefined();
  const bool is_alive = data_plane_->stats().setText(*id, info[1].ToString().Utf8Value());
  return Napi::Boolean::New(info.Env(), is_alive);
}

Napi::Value ProxyStats::isStat(const Napi::CallbackInfo& info) {
  const auto id = idOf(info);
  if (!id) return info.Env().Undefined();
  return Napi::Boolean::New(info.Env(), data_plane_->stats().isAlive(*id));
}

Napi::Value ProxyStats::statValue(const Napi::CallbackInfo& info) {
  const std::string name = info[0].ToString().Utf8Value();
  const bool is_made_at_need = name.find(".circuit_breakers.") != std::string::npos ||
                               name.find(".endpoint.") != std::string::npos ||
                               name.find(".fault.") != std::string::npos;
  if (is_made_at_need) data_plane_->refreshStats();
  const auto value = data_plane_->stats().value(name);
  if (!value) return info.Env().Undefined();
  return Napi::Number::New(info.Env(), static_cast<double>(*value));
}

void ProxyStats::flushHistograms(const Napi::CallbackInfo&) {
  data_plane_->stats().flushHistograms();
  // Asked once an interval: what the last update has left goes with it, even if nothing else comes.
  data_plane_->sweep();
}

void ProxyStats::resetCounters(const Napi::CallbackInfo&) { data_plane_->stats().resetCounters(); }

Napi::Value ProxyStats::lostSamples(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(data_plane_->stats().lostSamples()));
}

Napi::Value ProxyStats::openStats(const Napi::CallbackInfo& info) {
  const Napi::Object wanted = info[0].As<Napi::Object>();
  auto query = queryOf(wanted);
  if (!query) return fail(info.Env(), query.error().message);
  data_plane_->refreshStats(query.value().may_begin);
  const stats::Registry& registry = data_plane_->stats();
  const std::string format = textOf(wanted, "format");
  const auto open = format == "json"              ? stats::openJson
                    : format == "prometheus"      ? stats::openPrometheus
                    : format == "metric-families" ? stats::openMetricFamilies
                                                  : stats::openText;
  return PageObject::make(info.Env(), open(registry, std::move(query.value())));
}

}  // namespace fairlead::addon
