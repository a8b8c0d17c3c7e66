#include "tracing/request_trace.h"

#include <algorithm>

#include "base/wall_clock.h"
#include "tracing/header_values.h"
#include "tracing/span_head.h"

namespace fairlead::tracing {

using Kind = plan::Tracing::Kind;

namespace {

std::string_view withoutQuery(std::string_view path) { return path.substr(0, path.find('?')); }

void nameSpan(const Tracing& tracing, const http::RequestHead& head, std::string* name) {
  switch (tracing.plan.kind) {
    case Kind::Zipkin:
      *name = head.authority;
      return;
    case Kind::Skywalking:
      *name = withoutQuery(head.path);
      return;
    case Kind::OpenTelemetry:
    case Kind::Datadog:
      break;
  }
  *name = tracing.is_egress ? "egress " : "ingress";
  if (tracing.is_egress) name->append(head.authority);
}

// As it is known to those who look for it.
void writeTraceId(const Tracing& tracing, const SpanIds& ids, std::string* out) {
  if (tracing.plan.kind != Kind::Zipkin || ids.trace_high != 0) appendHex(ids.trace_high, out);
  appendHex(ids.trace_low, out);
}

}  // namespace

bool RequestTrace::begin(const Start& start) {
  tracing_ = &start.tracing;
  route_ = start.route;
  reason_ = start.reason;
  spawns_ = start.spawns_upstream;
  start_us_ = start.start_us;
  const uint64_t wall_us = wallClockMicros();
  wall_offset_us_ = wall_us - start.now_us;
  const Incoming incoming{start.tracing, start.head.headers, start.random,
                          start.reason != Reason::NotTraceable, wall_us};
  is_null_ = !beginSpan(incoming, &ids_, &baggage_);
  if (is_null_) return false;
  nameSpan(start.tracing, start.head, &name_);
  if (tracing_->plan.kind == Kind::Skywalking) {
    trace_id_ = baggage_.trace;
  } else {
    writeTraceId(*tracing_, ids_, &trace_id_);
    // As the real server, which knows it of no other kind.
    if (tracing_->plan.kind == Kind::OpenTelemetry) appendHex(ids_.span, &span_id_);
  }
  return true;
}

void RequestTrace::clear() {
  tracing_ = nullptr;
  route_ = nullptr;
  ids_ = {};
  baggage_.clear();
  name_.clear();
  told_operation = {};
  is_null_ = true;
  spawns_ = false;
  children_ = 0;
  first_tx_us_ = last_tx_us_ = first_rx_us_ = last_rx_us_ = first_downstream_tx_us_ = 0;
  trace_id_.clear();
  span_id_.clear();
  tries_.clear();
}

const format::Format* RequestTrace::operation() const {
  if (route_ && route_->operation) return &*route_->operation;
  return tracing_->operation ? &*tracing_->operation : nullptr;
}

void RequestTrace::nameBy(const format::FormatContext& format, Arena& arena) {
  const std::string_view name = operation()->formatTo(format, arena);
  if (!name.empty()) name_ = name;
}

// ---- tries ----

RequestTrace::Try* RequestTrace::findTry(const void* who) {
  for (Try& one : tries_) {
    if (one.who == who) return &one;
  }
  return nullptr;
}

void RequestTrace::beginTry(const void* who, std::string_view cluster_shown, uint32_t number,
                            uint64_t now_us, const format::FormatContext* format, Arena& arena,
                            Random& random) {
  if (is_null_ || !spawns_) return;
  Try& one = tries_.emplace_back();
  one.who = who;
  one.is_server = tracing_->areTriesServers();
  one.ids = one.is_server && tracing_->plan.zipkin->shared_context ? ids_ : nextChild(random);
  one.start_us = now_us;
  one.number = number;
  const format::Format* const named =
      route_ && route_->upstream_operation ? &*route_->upstream_operation
      : tracing_->upstream_operation       ? &*tracing_->upstream_operation
                                           : nullptr;
  if (named && format) one.name = named->formatTo(*format, arena);
  if (one.name.empty()) one.name.append("router ").append(cluster_shown).append(" egress");
}

SpanIds RequestTrace::nextChild(Random& random) {
  SpanIds ids = childOf(ids_, random);
  ++children_;
  // Numbers within a segment.
  if (tracing_->plan.kind == Kind::Skywalking) ids.span = children_;
  return ids;
}

bool RequestTrace::beginCall(std::string_view name, uint64_t now_us, Random& random, CallSpan* span,
                             std::optional<bool> is_sampled) {
  if (is_null_) return false;
  SpanIds ids = nextChild(random);
  if (is_sampled) ids.is_sampled = *is_sampled;
  span->begin({*tracing_, ids, baggage_, name_, name, now_us, wall_offset_us_});
  return true;
}

void RequestTrace::tellHost(const void* who, http::HeaderMap& headers, std::string_view path,
                            std::string_view peer, uint64_t now_us, Arena& arena) {
  if (is_null_) return;
  Try* const one = findTry(who);
  if (one) one->tx_us = now_us;
  if (first_tx_us_ == 0) first_tx_us_ = now_us;
  last_tx_us_ = now_us;
  if (tracing_->plan.keeps_context) return;
  const std::string_view done = one ? std::string_view(name_) : withoutQuery(path);
  tracing::tellHost({*tracing_, one ? one->ids : ids_, baggage_, done, peer}, headers, arena);
}

void RequestTrace::onTryAnswer(const void* who, uint16_t status, const http::HeaderMap& headers,
                               uint64_t now_us) {
  if (first_rx_us_ == 0) first_rx_us_ = now_us;
  last_rx_us_ = now_us;
  Try* const one = findTry(who);
  if (!one) return;
  one->status = status;
  one->first_rx_us = now_us;
  onTryTrailers(who, headers);
}

void RequestTrace::onTryTrailers(const void* who, const http::HeaderMap& trailers) {
  Try* const one = findTry(who);
  if (!one) return;
  if (const http::HeaderEntry* const status = trailers.find(http::HeaderId::GrpcStatus)) {
    one->grpc_status = status->value();
    const http::HeaderEntry* const message = trailers.find(http::HeaderId::GrpcMessage);
    if (message) one->grpc_message = message->value();
  }
}

void RequestTrace::onTryCanceled(const void* who) {
  if (Try* const one = findTry(who)) one->is_canceled = true;
}

void RequestTrace::onTryFailed(const void* who, std::string_view reason) {
  Try* const one = findTry(who);
  if (!one) return;
  one->is_failed = true;
  one->failure = reason;
}

void RequestTrace::onTryFlag(const void* who, format::ResponseFlag flag) {
  if (Try* const one = findTry(who)) one->flags.set(flag);
}

void RequestTrace::endTry(const void* who, const Facts& facts) {
  last_rx_us_ = facts.now_us;
  Try* const one = findTry(who);
  if (!one) return;
  if (one->ids.is_sampled) {
    const format::FormatContext& format = facts.format;
    scratch_ = format.upstream_host ? std::string(format.upstream_host->text()) : std::string();
    const uint32_t flags = one->is_server ? Record::kChild | Record::kServer : Record::kChild;
    writeSpan(one->ids, flags, one->name, scratch_, one->start_us, facts);
    record_.beginTags();
    writeTryTags(*one, facts);
    record_.endTags();
    record_.beginEvents();
    if (tracing_->plan.verbose) writeTryEvents(*one, facts);
    record_.endEvents();
    tracing_->spans.push(facts.worker, record_.finish());
  }
  tries_.erase(tries_.begin() + (one - tries_.data()));
}

void RequestTrace::end(const Facts& facts) {
  if (is_null_ || !ids_.is_sampled) return;
  uint32_t flags = 0;
  if (tracing_->isServer()) flags |= Record::kServer;
  if (tracing_->is_egress) flags |= Record::kEgress;
  writeSpan(ids_, flags, name_, {}, start_us_, facts);
  record_.beginTags();
  writeOwnTags(facts);
  record_.endTags();
  record_.beginEvents();
  if (tracing_->plan.verbose) writeOwnEvents(facts);
  record_.endEvents();
  tracing_->spans.push(facts.worker, record_.finish());
}

void RequestTrace::writeSpan(const SpanIds& ids, uint32_t flags, std::string_view name,
                             std::string_view peer, uint64_t start_us, const Facts& facts) {
  beginRecord({*tracing_, ids, baggage_, flags, name, peer, wall(start_us), facts.now_us - start_us,
               facts.worker},
              &record_);
}

}  // namespace fairlead::tracing
