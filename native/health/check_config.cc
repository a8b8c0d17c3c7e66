#include "health/check_config.h"

#include <utility>

#include "stats/scopes.h"

namespace fairlead::health {

Result<std::shared_ptr<const CheckConfig>> CheckConfig::build(
    std::shared_ptr<upstream::Cluster> cluster, stats::Registry& registry,
    log_files::LogFiles& logs, unsigned thread) {
  auto config = std::make_shared<CheckConfig>();
  config->cluster_ = std::move(cluster);
  config->thread_ = thread;
  // As the real server, where clusters of one name count together.
  constexpr auto kCxTotal = static_cast<size_t>(stats::Cluster::Counter::UpstreamCxTotal);
  config->had_traffic_ = config->cluster_->stats().counter(kCxTotal).used;
  const plan::HealthCheck& plan = config->plan();
  for (const std::string& path : plan.event_logs) {
    auto file = logs.open(path);
    if (!file) return file.error();
    config->event_logs_.push_back(std::move(file.value()));
  }
  if (plan.service_name) {
    auto matcher = match::StringMatcher::build(*plan.service_name);
    if (!matcher) return matcher.error();
    config->service_name_ = std::move(matcher.value());
  }
  if (plan.mutations) config->mutations_ = route::HeaderMutations(*plan.mutations);
  if (!plan.socket_labels.empty()) {
    config->by_labels_ = config->cluster_->transportMatchFor(plan.socket_labels);
  }
  config->client_ = config->cluster_->clientSettings();
  // A check's own time limit is the only one of its connection.
  config->client_.connect_timeout_ms = plan.timeout_ms + 1000;
  config->client_.max_requests = 0;
  config->client_.max_duration_ms = 0;
  if (plan.http2) config->client_.http2 = &*plan.http2;
  const stats::Scope& scope = config->cluster_->stats().scope();
  if (config->speaksHttp2() && !config->cluster_->http2Stats()) {
    config->cluster_->setHttp2Stats(
        registry.renew<stats::Http2Codec>(stats::innerScope(scope, "http2.")));
  }
  config->stats_ = registry.create<stats::HealthCheck>(stats::innerScope(scope, "health_check."));
  return std::shared_ptr<const CheckConfig>(std::move(config));
}

void CheckConfig::countTransport() const {
  if (by_labels_) cluster_->countTransport(*by_labels_, thread_ + 1);
}

std::string_view CheckConfig::hostOf(const upstream::Host& host) const {
  const std::string& own = host.settings().check_hostname;
  if (!own.empty()) return own;
  return plan().host.empty() ? cluster_->name() : plan().host;
}

}  // namespace fairlead::health
