#include "filters/http/dynamic_forward_proxy.h"

#include <utility>

#include "base/text.h"
#include "upstream/state_wishes.h"

namespace fairlead::filters {

namespace {

// Of one request.
class DynamicForwardProxy final : public HttpFilter,
                                  private upstream::NameWaiter,
                                  private net::Timer {
 public:
  DynamicForwardProxy(const DynamicForwardProxyConfig& config, const FilterScope& scope,
                      FilterPlace& place)
      : config_(config), scope_(scope), place_(place) {}

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView& view,
                             bool) override {
    upstream::WorkerCluster* const cluster = clusterFor(view);
    if (!cluster || !cluster->namedHosts()) return FilterStatus::Continue;
    if (!config_.cache().enter(scope_.worker)) {
      answer_ = {503, "Dynamic forward proxy pending request overflow",
                 "dynamic_forward_proxy_pending_request_overflow"};
      return FilterStatus::Answer;
    }
    has_entered_ = true;
    const route::FilterConfigList own = place_.routeConfigs();
    if (const NameRewrite* rewrite = own.empty() ? nullptr : NameRewrite::of(own.front())) {
      rewrite->apply(head);
    }
    if (head.authority.empty()) {
      stopWaiting();
      answer_ = {400, "Empty host header", "empty_host_header"};
      return FilterStatus::Answer;
    }
    return ask(cluster->cluster(), head.authority);
  }
  FilterStatus onRequestData(std::string_view, bool) override { return laterStatus(); }
  FilterStatus onRequestTrailers(http::HeaderMap&) override { return laterStatus(); }
  LocalReply answer() const override { return answer_; }
  void onEnd() override { stopWaiting(); }

 private:
  FilterStatus laterStatus() const {
    return NameWaiter::isLinked() ? FilterStatus::Pause : FilterStatus::Continue;
  }

  // Null: there is none.
  upstream::WorkerCluster* clusterFor(const route::RequestView& view) const {
    if (!scope_.route || !scope_.route->cluster) return nullptr;
    const route::Target& target = scope_.route->cluster->pick(view);
    upstream::WorkerCluster* cluster = nullptr;
    std::string_view name;
    if (target.cluster) {
      cluster = scope_.clusters.find(target.cluster.id());
    } else if (view.header(target.cluster_header, &name)) {
      cluster = scope_.clusters.find(name);
    }
    return cluster;
  }

  FilterStatus ask(const upstream::Cluster& cluster, std::string_view host) {
    const plan::NamedHosts& hosts = *cluster.settings().named_hosts;
    is_cluster_ = !hosts.cluster_prefix.empty() && cluster.names();
    upstream::NameCache* const cache = is_cluster_ ? cluster.names() : &config_.cache();
    upstream::HostByState by_state;
    format::FormatContext context;
    if (config_.plan().asks_state) {
      place_.describe(&context);
      by_state = upstream::hostByState(context.connection_state, context.filter_state);
    }
    const std::string name = by_state.nameOr(host, hosts.default_port);
    using State = upstream::NameCache::State;
    const upstream::KnownName* known = nullptr;
    const net::Millis now = place_.loop().now();
    switch (cache->ask(scope_.worker, name, now, *this, &known)) {
      case State::Known:
        stopWaiting();
        if (known->failure.empty()) return FilterStatus::Continue;
        fail(known->failure);
        return FilterStatus::Answer;
      case State::Full:
        stopWaiting();
        answer_ = is_cluster_ ? LocalReply{503, "Sub cluster overflow", "sub_cluster_overflow"}
                              : LocalReply{503, "DNS cache overflow", "dns_cache_overflow"};
        return FilterStatus::Answer;
      case State::Waits:
      case State::Busy:  // Not told to one that has entered.
        break;
    }
    if (is_cluster_) {
      place_.loop().timers().arm(this, now + config_.plan().cluster_timeout_ms);
    }
    return FilterStatus::Pause;
  }

  void fail(const std::string& why) {
    details_ = "dns_resolution_failure{" + why + "}";
    answer_ = {503, "DNS resolution failure", details_, format::ResponseFlag::DnsResolutionFailed};
  }

  void onName(const upstream::KnownName& name) override {
    stopWaiting();
    if (name.failure.empty()) {
      place_.continueRequest();
    } else {
      fail(name.failure);
      place_.answer(answer_);
    }
  }

  void onTimer() override {
    stopWaiting();
    answer_ = {503, "Sub cluster warming timeout", "sub_cluster_warming_timeout"};
    place_.answer(answer_);
  }

  void stopWaiting() {
    Timer::disarm();
    NameWaiter::unlink();
    if (std::exchange(has_entered_, false)) config_.cache().leave();
  }

  const DynamicForwardProxyConfig& config_;
  const FilterScope& scope_;
  FilterPlace& place_;
  std::string details_;
  LocalReply answer_{503, {}, {}};
  bool has_entered_ = false;
  bool is_cluster_ = false;
};

}  // namespace

void NameRewrite::apply(http::RequestHead& head) const {
  if (!plan_.literal.empty()) {
    head.authority = plan_.literal;
    return;
  }
  for (const http::HeaderEntry& entry : head.headers) {
    if (!equalsIgnoreCase(entry.name(), plan_.header)) continue;
    if (entry.value_size > 0) head.authority = entry.value();
    return;
  }
}

BuiltFilter DynamicForwardProxyConfig::build(const plan::NameLookup& plan,
                                             const ConfigScope& scope) {
  auto config = std::make_shared<DynamicForwardProxyConfig>();
  config->plan_ = plan;
  if (scope.names) config->cache_ = scope.names->find(plan.cache);
  if (!config->cache_) return Error{"there is no cache of names '" + plan.cache + "'"};
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* DynamicForwardProxyConfig::make(FilterMemory& memory, const FilterScope& scope,
                                            FilterPlace& place) const {
  return memory.make<DynamicForwardProxy>(*this, scope, place);
}

}  // namespace fairlead::filters
