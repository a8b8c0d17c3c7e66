#include "health/load_config.h"

#include <utility>

#include "base/proto_writer.h"
#include "http/grpc_frames.h"
#include "stats/scopes.h"

namespace fairlead::health {

namespace {

// As in the real server: two reports may be missed.
constexpr uint64_t kPatientPeriods = 3;

// OrcaLoadReportRequest, in its frame.
std::string questionFor(uint64_t period_ms) {
  ProtoWriter duration;
  if (period_ms >= 1000) duration.number(1, period_ms / 1000);
  if (period_ms % 1000 != 0) duration.number(2, period_ms % 1000 * 1'000'000);
  ProtoWriter request;
  request.bytes(1, duration.view());
  std::string framed;
  http::appendGrpcFrameHeader(&framed, 0, request.view().size());
  return framed.append(request.view());
}

}  // namespace

std::shared_ptr<const LoadConfig> LoadConfig::build(std::shared_ptr<upstream::Cluster> cluster,
                                                    stats::Registry& registry, unsigned thread) {
  auto config = std::make_shared<LoadConfig>();
  config->cluster_ = std::move(cluster);
  config->thread_ = thread;
  const plan::LoadQuestions& plan = config->plan();
  if (plan.goes_by_labels) {
    const upstream::Cluster& of = *config->cluster_;
    config->transport_ = of.transportOf(of.transportMatchFor(plan.socket_labels));
  }
  config->client_ = config->cluster_->clientSettings();
  // Patience is the only limit of a connection's time.
  config->client_.connect_timeout_ms = config->patienceMs() + 1000;
  config->client_.max_requests = 0;
  config->client_.max_duration_ms = 0;
  if (plan.http2) config->client_.http2 = &*plan.http2;
  config->question_ = questionFor(plan.period_ms);
  const stats::Scope& scope = config->cluster_->stats().scope();
  if (!config->cluster_->http2Stats()) {
    config->cluster_->setHttp2Stats(
        registry.create<stats::Http2Codec>(stats::innerScope(scope, "http2.")));
  }
  config->stats_ = registry.create<stats::LoadQuestions>(stats::innerScope(scope, "lb_orca_oob."));
  return config;
}

uint64_t LoadConfig::patienceMs() const { return plan().period_ms * kPatientPeriods; }

}  // namespace fairlead::health
