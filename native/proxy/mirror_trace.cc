// A copy as a span, which lives as it does: a child of its request's.
#include "proxy/downstream.h"
#include "proxy/mirror.h"

namespace fairlead::proxy {

// Its headers are in the worker's scratch then. There may be no span.
void Mirror::beginTrace(const StreamInfo& info, const route::MirrorPolicy& policy,
                        const http::HeaderMap& from) {
  std::unique_ptr<tracing::CallSpan> span = info.trace->beginCall(
      "mirror", loop().nowMicros(), context_->upstream.random, policy.is_sampled);
  if (!span) return;
  http::HeaderMap& headers = context_->headers;
  if (&from != &headers) headers.assign(from);
  span->tellHost(headers, context_->arena);
  traced_ = std::make_unique<Traced>();
  traced_->settings = info.config().tracing;
  traced_->span = std::move(span);
}

void Mirror::traceAsked(const upstream::Host& host) { traced_->asked = host.address().text(); }

void Mirror::endTrace() {
  const std::unique_ptr<Traced> traced = std::move(traced_);
  tracing::CallSpan& span = *traced->span;
  if (is_canceled_) {
    span.tag("canceled", "true");
  } else if (is_broken_) {
    span.tag("error.reason", "Reset");
  }
  const upstream::Cluster& cluster = cluster_->cluster();
  span.tagHttp({cluster.name(), cluster.observabilityName(), traced->asked, status_, traced->flag});
  span.end(loop().nowMicros(), context_->upstream.worker, traced->asked);
}

}  // namespace fairlead::proxy
