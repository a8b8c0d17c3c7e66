#include "addon/proxy_clusters.h"

#include <string>

#include "addon/edge.h"
#include "addon/name_filter.h"
#include "addon/page_object.h"
#include "worker/clusters_page.h"

namespace fairlead::addon {

Napi::Value ProxyClusters::clusterHosts(const Napi::CallbackInfo& info) {
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

Napi::Value ProxyClusters::clusterStatus(const Napi::CallbackInfo& info) {
  const auto found = data_plane_->clusters().find(info[0].ToString().Utf8Value());
  if (found == data_plane_->clusters().end()) return info.Env().Undefined();
  return Napi::String::New(info.Env(), worker::clusterStatusJson(*found->second));
}

Napi::Value ProxyClusters::openClusters(const Napi::CallbackInfo& info) {
  auto filter = nameFilterOf(info[1]);
  if (!filter) return fail(info.Env(), filter.error().message);
  const bool json = info[0].ToString().Utf8Value() == "json";
  return PageObject::make(info.Env(),
                          json ? worker::openClustersJson(*data_plane_, std::move(filter.value()))
                               : worker::openClustersText(*data_plane_, std::move(filter.value())));
}

}  // namespace fairlead::addon
