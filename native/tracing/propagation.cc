#include "tracing/propagation.h"

namespace fairlead::tracing {

using Kind = plan::Tracing::Kind;

bool beginSpan(const Incoming& incoming, SpanIds* ids, Baggage* baggage) {
  switch (incoming.tracing.plan.kind) {
    case Kind::Zipkin:
      return beginZipkin(incoming, ids, baggage);
    case Kind::OpenTelemetry:
      return beginOpenTelemetry(incoming, ids, baggage);
    case Kind::Datadog:
      return beginDatadog(incoming, ids, baggage);
    case Kind::Skywalking:
      return beginSkyWalking(incoming, ids, baggage);
  }
  return false;
}

SpanIds childOf(const SpanIds& parent, Random& random) {
  SpanIds child = parent;
  child.parent = parent.span;
  child.has_parent = true;
  child.is_remote = false;
  child.span = random.next();
  return child;
}

void tellHost(const Outgoing& outgoing, http::HeaderMap& headers, Arena& arena) {
  switch (outgoing.tracing.plan.kind) {
    case Kind::Zipkin:
      return tellZipkin(outgoing, headers, arena);
    case Kind::OpenTelemetry:
      return tellOpenTelemetry(outgoing, headers, arena);
    case Kind::Datadog:
      return tellDatadog(outgoing, headers, arena);
    case Kind::Skywalking:
      return tellSkyWalking(outgoing, headers, arena);
  }
}

}  // namespace fairlead::tracing
