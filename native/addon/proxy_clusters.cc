#include "addon/proxy_clusters.h"

#include <string>
#include <vector>

#include "addon/edge.h"
#include "addon/name_filter.h"
#include "addon/page_object.h"
#include "upstream/answer_counts.h"
#include "worker/clusters_page.h"

namespace fairlead::addon {

namespace {

Napi::Object describe(const Napi::Env& env, const upstream::Host& host) {
  const Napi::Object item = Napi::Object::New(env);
  item.Set("address", host.address().ip());
  item.Set("port", host.address().port());
  return item;
}

// Null: there is no counter of this name.
upstream::OwnedCounter* counterOf(upstream::HostCounters& counters, std::string_view name) {
  if (name == "cx_total") return &counters.cx_total;
  if (name == "cx_active") return &counters.cx_active;
  if (name == "cx_connect_fail") return &counters.cx_connect_fail;
  if (name == "rq_total") return &counters.rq_total;
  if (name == "rq_active") return &counters.rq_active;
  if (name == "rq_pending_active") return &counters.rq_pending_active;
  if (name == "rq_success") return &counters.rq_success;
  if (name == "rq_error") return &counters.rq_error;
  if (name == "rq_timeout") return &counters.rq_timeout;
  return nullptr;
}

// Null: the cluster has no host of this address and port, or has it no more.
upstream::Host* hostOf(const upstream::Cluster& cluster, const Napi::Value& address,
                       const Napi::Value& port) {
  if (!cluster.hosts() || address.IsUndefined()) return nullptr;
  const std::string ip = address.ToString().Utf8Value();
  const uint32_t number = port.ToNumber().Uint32Value();
  for (const auto& host : cluster.hosts()->hosts()) {
    if (host->address().port() == number && host->address().ip() == ip) return host.get();
  }
  return nullptr;
}

// Of the default priority; null: there is no budget of this name.
upstream::Budget* budgetOf(upstream::Cluster& cluster, std::string_view name) {
  upstream::Limits& limits = cluster.limits(0);
  if (name == "connections") return &limits.connections;
  if (name == "connection_pools") return &limits.connection_pools;
  if (name == "pending_requests") return &limits.pending_requests;
  if (name == "requests") return &limits.requests;
  if (name == "retries") return &limits.retries;
  return nullptr;
}

}  // namespace

std::shared_ptr<upstream::Cluster> ProxyClusters::find(const Napi::Value& name) const {
  const auto found = data_plane_->clusters().find(name.ToString().Utf8Value());
  return found == data_plane_->clusters().end() ? nullptr : found->second;
}

Napi::Value ProxyClusters::chooseHost(const Napi::CallbackInfo& info) {
  const auto cluster = find(info[0]);
  const auto host = cluster ? control_hosts_.choose(cluster) : nullptr;
  return host ? describe(info.Env(), *host) : info.Env().Undefined();
}

void ProxyClusters::hostAdd(const Napi::CallbackInfo& info) {
  const auto cluster = find(info[0]);
  upstream::Host* const host = cluster ? hostOf(*cluster, info[1], info[2]) : nullptr;
  if (!host) return;
  const std::string counter = info[3].ToString().Utf8Value();
  upstream::OwnedCounter* owned = counterOf(host->controlCounters(), counter);
  if (!owned) {
    fail(info.Env(), "hosts have no counter '" + counter + "'");
    return;
  }
  // Unsigned numbers wrap: to add -1 is to take 1 away.
  owned->add(static_cast<uint64_t>(info[4].ToNumber().Int64Value()));
}

Napi::Value ProxyClusters::takeBudget(const Napi::CallbackInfo& info) {
  const auto cluster = find(info[0]);
  if (!cluster) return Napi::Boolean::New(info.Env(), false);
  upstream::Budget* budget = budgetOf(*cluster, info[1].ToString().Utf8Value());
  if (!budget) return fail(info.Env(), "clusters have no such budget");
  const bool had_room = budget->tryTake();
  if (!had_room && info[2].ToBoolean()) budget->take();
  return Napi::Boolean::New(info.Env(), had_room);
}

void ProxyClusters::returnBudget(const Napi::CallbackInfo& info) {
  const auto cluster = find(info[0]);
  if (!cluster) return;
  const std::string name = info[1].ToString().Utf8Value();
  upstream::Budget* budget = budgetOf(*cluster, name);
  if (!budget) {
    fail(info.Env(), "clusters have no such budget");
    return;
  }
  budget->giveBack();
  // A host's pools of all priorities go together.
  if (name == "connection_pools") cluster->limits(1).connection_pools.touch();
}

void ProxyClusters::countAnswer(const Napi::CallbackInfo& info) {
  const auto cluster = find(info[0]);
  if (!cluster) return;
  const auto status = static_cast<uint16_t>(info[1].ToNumber().Uint32Value());
  stats::Block<stats::Cluster>& stats = cluster->stats();
  stats.shard(0)->add(stats::Cluster::Counter::UpstreamRqCompleted);
  stats.countOwnResponse(stats::CodeVariant::All, status);
  stats.countOwnResponse(stats::CodeVariant::Internal, status);
  const upstream::Host* const host = hostOf(*cluster, info[2], info[3]);
  if (!host) return;
  if (info[4].ToBoolean() || host->settings().canary) {
    stats.countOwnResponse(stats::CodeVariant::Canary, status);
  }
  if (auto* const zone = host->zoneStats()) {
    zone->countOwnResponse(stats::CodeVariant::All, status);
  }
}

void ProxyClusters::countRetried(const Napi::CallbackInfo& info) {
  const auto cluster = find(info[0]);
  if (!cluster) return;
  const auto status = static_cast<uint16_t>(info[1].ToNumber().Uint32Value());
  cluster->stats().countOwnResponse(stats::CodeVariant::Retry, status);
}

void ProxyClusters::recordAnswerTime(const Napi::CallbackInfo& info) {
  const auto cluster = find(info[0]);
  if (!cluster) return;
  const auto ms = static_cast<uint64_t>(info[1].ToNumber().Int64Value());
  const upstream::Host* const host = hostOf(*cluster, info[2], info[3]);
  auto* const zone = host ? host->zoneStats() : nullptr;
  const bool is_canary = host && (info[4].ToBoolean() || host->settings().canary);
  upstream::recordTime(*cluster->stats().shard(0), zone ? zone->shard(0) : nullptr, ms, true,
                       is_canary);
}

void ProxyClusters::addHttp2Stats(const Napi::CallbackInfo& info) {
  const auto cluster = data_plane_->findCluster(info[0].ToString().Utf8Value());
  if (cluster) data_plane_->addHttp2Stats(*cluster);
}

Napi::Value ProxyClusters::addGoogleGrpcStats(const Napi::CallbackInfo& info) {
  const std::string prefix = info[0].ToString().Utf8Value();
  const std::string owner = info[1].ToString().Utf8Value();
  return Napi::String::New(info.Env(), data_plane_->addGoogleGrpcStats(prefix, owner));
}

Napi::Value ProxyClusters::addTracerStats(const Napi::CallbackInfo& info) {
  const std::string kind = info[0].ToString().Utf8Value();
  return Napi::String::New(info.Env(), data_plane_->addTracerStats(kind));
}

Napi::Value ProxyClusters::addLdsStats(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), data_plane_->addLdsStats());
}

Napi::Value ProxyClusters::addControlPlaneStats(const Napi::CallbackInfo& info) {
  const std::string prefix = info[0].ToString().Utf8Value();
  return Napi::String::New(info.Env(), data_plane_->addControlPlaneStats(prefix));
}

void ProxyClusters::setWarming(const Napi::CallbackInfo& info) {
  data_plane_->setWarming(info[0].ToString().Utf8Value(), info[1].ToBoolean());
}

void ProxyClusters::endWaits(const Napi::CallbackInfo& info) {
  if (!info[0].IsArray()) return;
  const auto given = info[0].As<Napi::Array>();
  std::vector<std::string> names;
  names.reserve(given.Length());
  for (uint32_t i = 0; i < given.Length(); ++i) {
    names.push_back(Napi::Value(given[i]).ToString().Utf8Value());
  }
  data_plane_->endWaits(names);
}

Napi::Value ProxyClusters::addRtdsStats(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), data_plane_->addRtdsStats());
}

Napi::Value ProxyClusters::addLoadReporterStats(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), data_plane_->addLoadReporterStats());
}

Napi::Value ProxyClusters::addHdsStats(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), data_plane_->addHdsStats());
}

void ProxyClusters::removeStats(const Napi::CallbackInfo& info) {
  data_plane_->removeStats(info[0].ToString().Utf8Value());
}

Napi::Value ProxyClusters::addCdsStats(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), data_plane_->addCdsStats());
}

Napi::Value ProxyClusters::addRdsStats(const Napi::CallbackInfo& info) {
  const std::string http_prefix = info[0].ToString().Utf8Value();
  const std::string name = info[1].ToString().Utf8Value();
  return Napi::String::New(info.Env(), data_plane_->addRdsStats(http_prefix, name));
}

Napi::Value ProxyClusters::addSdsStats(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), data_plane_->addSdsStats(info[0].ToString().Utf8Value()));
}

Napi::Value ProxyClusters::addVhdsStats(const Napi::CallbackInfo& info) {
  const std::string http_prefix = info[0].ToString().Utf8Value();
  const std::string name = info[1].ToString().Utf8Value();
  return Napi::String::New(info.Env(), data_plane_->addVhdsStats(http_prefix, name));
}

Napi::Value ProxyClusters::addScopedRdsStats(const Napi::CallbackInfo& info) {
  const std::string http_prefix = info[0].ToString().Utf8Value();
  const std::string name = info[1].ToString().Utf8Value();
  return Napi::String::New(info.Env(), data_plane_->addScopedRdsStats(http_prefix, name));
}

Napi::Value ProxyClusters::addExtensionStats(const Napi::CallbackInfo& info) {
  const std::string kind = info[0].ToString().Utf8Value();
  const std::string name = info[1].ToString().Utf8Value();
  return Napi::String::New(info.Env(), data_plane_->addExtensionStats(kind, name));
}

Napi::Value ProxyClusters::addLedsStats(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), data_plane_->addLedsStats(info[0].ToString().Utf8Value()));
}

Napi::Value ProxyClusters::addOdcdsStats(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), data_plane_->addOdcdsStats());
}

void ProxyClusters::onDemands(const Napi::CallbackInfo& info) {
  if (!info[0].IsFunction()) {
    fail(info.Env(), "onDemands() takes a function");
    return;
  }
  const auto told =
      std::make_shared<Napi::FunctionReference>(Napi::Persistent(info[0].As<Napi::Function>()));
  demands_->open(info.Env(), [plane = std::weak_ptr(data_plane_), told](Napi::Env env) {
    const Napi::HandleScope scope(env);
    const std::shared_ptr<worker::DataPlane> alive = plane.lock();
    if (!alive) return;
    const Napi::Array list = Napi::Array::New(env);
    for (const filters::DemandKey& key : alive->takeDemands()) {
      const Napi::Object item = Napi::Object::New(env);
      item.Set("kind", static_cast<uint32_t>(key.kind));
      item.Set("source", key.source);
      item.Set("name", key.name);
      list.Set(list.Length(), item);
    }
    if (list.Length() > 0) told->Call({list});
  });
}

Napi::Value ProxyClusters::clusterPrefix(const Napi::CallbackInfo& info) {
  const auto cluster = data_plane_->findCluster(info[0].ToString().Utf8Value());
  if (!cluster) return info.Env().Undefined();
  return Napi::String::New(info.Env(), cluster->stats().scope().prefix);
}

Napi::Value ProxyClusters::clusterStatus(const Napi::CallbackInfo& info) {
  const auto cluster = find(info[0]);
  if (!cluster) return info.Env().Undefined();
  return Napi::String::New(info.Env(), worker::clusterStatusJson(*cluster));
}

Napi::Value ProxyClusters::takeLoads(const Napi::CallbackInfo& info) {
  const auto cluster = find(info[0]);
  if (!cluster) return info.Env().Undefined();
  return Napi::String::New(info.Env(), worker::takeLoadsJson(*cluster));
}

namespace {

// From pairs in a row: a cluster, its name in EDS.
worker::ServiceNames serviceNamesOf(const Napi::Value& value) {
  worker::ServiceNames services;
  if (!value.IsArray()) return services;
  const Napi::Array pairs = value.As<Napi::Array>();
  for (uint32_t i = 0; i + 1 < pairs.Length(); i += 2) {
    services.emplace(pairs.Get(i).ToString().Utf8Value(), pairs.Get(i + 1).ToString().Utf8Value());
  }
  return services;
}

}  // namespace

Napi::Value ProxyClusters::openClusters(const Napi::CallbackInfo& info) {
  auto filter = nameFilterOf(info[1]);
  if (!filter) return fail(info.Env(), filter.error().message);
  const bool json = info[0].ToString().Utf8Value() == "json";
  const auto open = json ? worker::openClustersJson : worker::openClustersText;
  return PageObject::make(info.Env(),
                          open(*data_plane_, std::move(filter.value()), serviceNamesOf(info[2])));
}

}  // namespace fairlead::addon
