#include "filters/http/on_demand.h"

#include <string>

#include "base/text.h"
#include "route/route_table.h"

namespace fairlead::filters {

namespace {

using DemandKind = plan::Demand::Kind;

// Of one request.
class OnDemand final : public HttpFilter, private OnDemandWaiter, private net::Timer {
 public:
  OnDemand(const OnDemandConfig& config, const FilterScope& scope, FilterPlace& place)
      : config_(config), scope_(scope), place_(place) {}

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView& view,
                             bool) override {
    return scope_.route ? askForCluster(view) : askForRoutes(head);
  }
  FilterStatus onRequestData(std::string_view, bool) override { return status(); }
  FilterStatus onRequestTrailers(http::HeaderMap&) override { return status(); }
  void onEnd() override {
    OnDemandWaiter::unlink();
    net::Timer::disarm();
  }

 private:
  FilterStatus status() const { return is_waiting_ ? FilterStatus::Pause : FilterStatus::Continue; }

  FilterStatus askForRoutes(const http::RequestHead& head) {
    if (scope_.missing_table) return wait({DemandKind::RouteTable, 0, *scope_.missing_table}, 0);
    if (!scope_.table || scope_.table->asksForHostsAs().empty()) return FilterStatus::Continue;
    std::string name = scope_.table->asksForHostsAs() + "/";
    for (const char c : head.authority) name.push_back(lowerAscii(c));
    return wait({DemandKind::VirtualHost, 0, std::move(name)}, 0);
  }

  FilterStatus askForCluster(const route::RequestView& view) {
    const plan::OnDemandClusters* const clusters = source();
    if (!clusters || !scope_.route->cluster) return FilterStatus::Continue;
    const route::Target& target = scope_.route->cluster->pick(view);
    std::string_view name;
    if (target.cluster) {
      if (scope_.clusters.hosts(target.cluster.id())) return FilterStatus::Continue;
      name = target.cluster.name();
    } else if (!view.header(target.cluster_header, &name) || scope_.clusters.find(name)) {
      return FilterStatus::Continue;
    }
    if (name.empty()) return FilterStatus::Continue;
    asks_for_cluster_ = true;
    return wait({DemandKind::Cluster, clusters->source, std::string(name)}, clusters->timeout_ms);
  }

  // Null: nobody is asked for clusters.
  const plan::OnDemandClusters* source() const {
    for (const route::FilterConfig* config : place_.routeConfigs()) {
      const OnDemandSettings* const own = OnDemandSettings::of(config);
      if (own) return own->plan.clusters ? &*own->plan.clusters : nullptr;
    }
    return config_.plan().clusters ? &*config_.plan().clusters : nullptr;
  }

  // 0 ms: for ever.
  FilterStatus wait(DemandKey key, uint64_t timeout_ms) {
    is_waiting_ = true;
    config_.waiters().wait(scope_.worker, std::move(key), this);
    net::Loop& loop = place_.loop();
    if (timeout_ms > 0) loop.timers().arm(this, loop.now() + timeout_ms);
    return FilterStatus::Pause;
  }

  void onMet() override {
    net::Timer::disarm();
    is_waiting_ = false;
    if (asks_for_cluster_) return place_.continueRequest();
    place_.restartRequest();
  }
  void onTimer() override {
    OnDemandWaiter::unlink();
    is_waiting_ = false;
    place_.continueRequest();
  }

  const OnDemandConfig& config_;
  const FilterScope& scope_;
  FilterPlace& place_;
  bool is_waiting_ = false;
  bool asks_for_cluster_ = false;
};

}  // namespace

BuiltFilter OnDemandConfig::build(const plan::OnDemandFilter& plan, const ConfigScope& scope) {
  return std::shared_ptr<const HttpFilterConfig>(std::make_shared<OnDemandConfig>(plan, scope));
}

OnDemandConfig::OnDemandConfig(const plan::OnDemandFilter& plan, const ConfigScope& scope)
    : plan_(plan), waiters_(scope.workers, scope.demands) {}

HttpFilter* OnDemandConfig::make(FilterMemory& memory, const FilterScope& scope,
                                 FilterPlace& place) const {
  return memory.make<OnDemand>(*this, scope, place);
}

}  // namespace fairlead::filters
