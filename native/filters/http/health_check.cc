#include "filters/http/health_check.h"

namespace fairlead::filters {

namespace {

using HealthCheckCounter = stats::HttpHealthCheck::Counter;
using http::HeaderId;

// Of one request.
class HealthCheck final : public HttpFilter {
 public:
  HealthCheck(const HealthCheckConfig& config, const FilterScope& scope)
      : config_(config), scope_(scope) {}

  FilterStatus onRequestHead(http::RequestHead&, const route::RequestView& view,
                             bool end) override {
    if (!config_.isHealthCheck(view)) return FilterStatus::Continue;
    is_health_check_ = true;
    scope_.notes.is_health_check = true;
    remembered_ = config_.recall(scope_.now);
    const bool passes = config_.plan().pass_through && !config_.hasFailed();
    if (passes && remembered_.status == 0) return FilterStatus::Continue;
    answers_ = true;
    return takeMore(end, true);
  }
  FilterStatus onRequestData(std::string_view, bool end) override { return takeMore(end); }
  FilterStatus onRequestTrailers(http::HeaderMap&) override { return takeMore(true); }
  LocalReply answer() const override { return answer_; }

  FilterStatus onResponseHead(uint16_t status, http::HeaderMap& headers, bool, Arena&) override {
    if (is_health_check_) {
      config_.remember(scope_.now, {status, headers.find(HeaderId::XEnvoyDegraded) != nullptr});
      headers.set(HeaderId::XEnvoyUpstreamHealthcheckedCluster, config_.plan().local_cluster);
    }
    if (config_.hasFailed()) {
      headers.set(HeaderId::XEnvoyImmediateHealthCheckFail, "true");
    }
    return FilterStatus::Continue;
  }

 private:
  FilterStatus takeMore(bool end, bool is_head = false) {
    if (!answers_) return FilterStatus::Continue;
    if (!end) return is_head ? FilterStatus::Pause : FilterStatus::Take;
    answer_ = decide();
    count();
    return FilterStatus::Answer;
  }

  LocalReply decide() const {
    if (config_.hasFailed()) return {503, {}, "health_check_failed"};
    if (remembered_.status != 0) {
      LocalReply answer{remembered_.status, {}, "health_check_cached"};
      answer.degraded = remembered_.degraded;
      return answer;
    }
    if (config_.wanted().empty()) return {200, {}, "health_check_ok"};
    for (const HealthCheckConfig::Wanted& wanted : config_.wanted()) {
      const char* why = whyUnwell(wanted);
      if (why) return {503, {}, why};
    }
    return {200, {}, "health_check_ok_cluster_healthy"};
  }

  // Null: enough of the cluster's hosts are well.
  const char* whyUnwell(const HealthCheckConfig::Wanted& wanted) const {
    const upstream::HostSet* hosts = scope_.clusters.hosts(wanted.cluster.id());
    if (!hosts) return kNoCluster;
    const uint64_t total = hosts->hosts().size();
    if (total == 0) return wanted.percent == 0 ? nullptr : kEmpty;
    const uint64_t well = hosts->healthyCount() + hosts->degradedCount();
    return 100 * well < total * wanted.percent ? kUnhealthy : nullptr;
  }

  void count() {
    stats::Shard<stats::HttpHealthCheck>& stats = config_.stats(scope_.worker);
    const bool well = answer_.status / 100 == 2;
    if (!well) answer_.flag = format::ResponseFlag::FailedLocalHealthCheck;
    stats.add(HealthCheckCounter::RequestTotal);
    stats.add(well ? HealthCheckCounter::Ok : HealthCheckCounter::Failed);
    if (answer_.degraded) stats.add(HealthCheckCounter::Degraded);
    if (answer_.details == "health_check_cached") stats.add(HealthCheckCounter::CachedResponse);
    if (answer_.details == kNoCluster) stats.add(HealthCheckCounter::FailedClusterNotFound);
    if (answer_.details == kEmpty) stats.add(HealthCheckCounter::FailedClusterEmpty);
    if (answer_.details == kUnhealthy) stats.add(HealthCheckCounter::FailedClusterUnhealthy);
  }

  static constexpr char kNoCluster[] = "health_check_failed_no_cluster_found";
  static constexpr char kEmpty[] = "health_check_failed_cluster_empty";
  static constexpr char kUnhealthy[] = "health_check_failed_cluster_unhealthy";

  const HealthCheckConfig& config_;
  const FilterScope& scope_;
  HealthCheckConfig::Remembered remembered_;
  LocalReply answer_{200, {}, {}};
  bool is_health_check_ = false;
  bool answers_ = false;
};

}  // namespace

BuiltFilter HealthCheckConfig::build(const plan::HealthCheckFilter& plan,
                                     const ConfigScope& scope) {
  auto config = std::make_shared<HealthCheckConfig>();
  config->plan_ = plan;
  config->stats_ =
      scope.registry.create<stats::HttpHealthCheck>(innerScope(scope.stats, "health_check."));
  config->failed_ = scope.health_check_failed;
  for (const plan::MinHealthy& wanted : plan.min_healthy) {
    config->wanted_.push_back({scope.clusters.hold(wanted.cluster), wanted.percent});
  }
  for (const plan::HeaderMatch& header : plan.headers) {
    Result<route::HeaderMatch> match = route::HeaderMatch::build(header);
    if (!match) return match.error();
    config->headers_.push_back(std::move(match.value()));
  }
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* HealthCheckConfig::make(FilterMemory& memory, const FilterScope& scope,
                                    FilterPlace&) const {
  return memory.make<HealthCheck>(*this, scope);
}

bool HealthCheckConfig::isHealthCheck(const route::RequestView& request) const {
  for (const route::HeaderMatch& header : headers_) {
    if (!header.matches(request)) return false;
  }
  return true;
}

HealthCheckConfig::Remembered HealthCheckConfig::recall(net::Millis now) const {
  if (plan_.cache_time_ms == 0) return {};
  const uint64_t remembered = remembered_.load(std::memory_order_relaxed);
  if (remembered >> 17 != periodOf(now)) return {};
  return {static_cast<uint16_t>(remembered & 0xffff), (remembered >> 16 & 1) != 0};
}

void HealthCheckConfig::remember(net::Millis now, const Remembered& answer) const {
  if (plan_.cache_time_ms == 0) return;
  const uint64_t degraded = answer.degraded ? 1 : 0;
  remembered_.store(periodOf(now) << 17 | degraded << 16 | answer.status,
                    std::memory_order_relaxed);
}

}  // namespace fairlead::filters
