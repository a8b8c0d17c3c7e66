// A copy as a span, which lives as it does: a child of its request's.
#include "proxy/downstream.h"
#include "proxy/mirror.h"

namespace fairlead::proxy {

// Its headers are in the worker's scratch then. There may be no span.
void Mirror::beginTrace(const StreamInfo& info, const route::MirrorPolicy& policy,
                        const http::HeaderMap& from) {
  if (!traced_) traced_ = std::make_unique<Traced>();
  tracing::CallSpan& span = traced_->span;
  if (!info.trace->beginCall("mirror", loop().nowMicros(), context_->upstream.random, &span,
                             policy.is_sampled)) {
    return;
  }
  http::HeaderMap& headers = context_->headers;
  if (&from != &headers) headers.assign(from);
  span.tellHost(headers, context_->arena);
}

void Mirror::traceAsked(const upstream::Host& host) { traced_->asked = host.address().text(); }

void Mirror::endTrace() {
  tracing::CallSpan& span = traced_->span;
  if (is_canceled_) {
    span.tag("canceled", "true");
  } else if (is_broken_) {
    span.tag("error.reason", "Reset");
  }
  const upstream::Cluster& cluster = cluster_->cluster();
  span.tagHttp(
      {cluster.name(), cluster.observabilityName(), traced_->asked, status_, traced_->flag});
  span.end(loop().nowMicros(), context_->upstream.worker, traced_->asked);
  traced_->asked.clear();
  traced_->flag = {};
}

}  // namespace fairlead::proxy
