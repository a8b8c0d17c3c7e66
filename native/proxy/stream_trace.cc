// A stream and its spans: whether it is traced, what it is called, and who is told.
#include "base/hex.h"
#include "http/request_id.h"
#include "proxy/downstream.h"
#include "proxy/stream.h"

namespace fairlead::proxy {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;
using tracing::Reason;
using tracing::RequestTrace;

namespace {

// How finely requests are drawn by their ids.
constexpr uint64_t kDraws = 10'000;
constexpr uint64_t kMillionthsPerDraw = 1'000'000 / kDraws;
constexpr uint64_t kPercents = 100;
constexpr uint64_t kMillionthsPerPercent = 1'000'000 / kPercents;

char digitOf(Reason reason) {
  switch (reason) {
    case Reason::ServiceForced:
      return 'a';
    case Reason::Sampled:
      return '9';
    case Reason::ClientForced:
      return 'b';
    case Reason::NotTraceable:
      break;
  }
  return http::kNoTraceReason;
}

Reason reasonIn(std::string_view id) {
  if (id.size() != http::kRequestIdBytes) return Reason::NotTraceable;
  for (const Reason reason : {Reason::ServiceForced, Reason::Sampled, Reason::ClientForced}) {
    if (id[http::kTraceReasonAt] == digitOf(reason)) return reason;
  }
  return Reason::NotTraceable;
}

// The first eight digits.
bool numberOf(std::string_view id, uint64_t* number) {
  if (id.size() < 8) return false;
  *number = 0;
  for (const char c : id.substr(0, 8)) {
    const int digit = hexValue(c);
    if (digit < 0) return false;
    *number = *number << 4 | static_cast<uint64_t>(digit);
  }
  return true;
}

// As the real server decides, by what the id says already, or by chance. `is_news`: the id is to
// say so.
Reason decide(const tracing::Sampling& sampling, const HeaderMap& headers, std::string_view id,
              bool packs, Random& random, bool* is_news) {
  uint64_t number = 0;
  *is_news = false;
  if (!numberOf(id, &number)) return Reason::NotTraceable;
  Reason reason = packs ? reasonIn(id) : Reason::NotTraceable;
  const uint64_t draw = number % kDraws;
  if (reason == Reason::NotTraceable) {
    if (headers.find(HeaderId::XClientTraceId) && random.draws(sampling.client.value())) {
      reason = Reason::ClientForced;
    } else if (headers.find(HeaderId::XEnvoyForceTrace)) {
      reason = Reason::ServiceForced;
    } else if (draw * kMillionthsPerDraw < sampling.random.value()) {
      reason = Reason::Sampled;
    }
    *is_news = reason != Reason::NotTraceable;
  }
  const uint64_t percent = draw % kPercents * kMillionthsPerPercent;
  if (reason == Reason::NotTraceable || percent < sampling.overall.value()) return reason;
  *is_news = true;
  return Reason::NotTraceable;
}

stats::Http::Counter counterOf(Reason reason) {
  switch (reason) {
    case Reason::ServiceForced:
      return stats::Http::Counter::TracingServiceForced;
    case Reason::Sampled:
      return stats::Http::Counter::TracingRandomSampling;
    case Reason::ClientForced:
      return stats::Http::Counter::TracingClientEnabled;
    case Reason::NotTraceable:
      break;
  }
  return stats::Http::Counter::TracingNotTraceable;
}

}  // namespace

Reason Stream::decideTrace(HeaderMap& headers) {
  const tracing::Tracing& settings = *config().tracing;
  if (settings.plan.ignores_request_id) return Reason::Sampled;
  HeaderEntry* const id = headers.find(HeaderId::XRequestId);
  if (!id) return Reason::NotTraceable;
  const route::TraceSettings* const by_route = info_.route ? info_.route->trace.get() : nullptr;
  const tracing::Sampling& sampling =
      by_route && by_route->tracing ? by_route->tracing->sampling : settings.sampling;
  const bool packs = !config().plan.keeps_request_ids;
  bool is_news = false;
  const Reason reason =
      decide(sampling, headers, id->value(), packs, context().upstream.random, &is_news);
  if (!is_news || !packs || id->value().size() != http::kRequestIdBytes) return reason;
  std::string packed(id->value());
  packed[http::kTraceReasonAt] = digitOf(reason);
  id->setValue(context().arena.copy(packed));
  if (!request_id_.empty()) request_id_ = packed;
  return reason;
}

void Stream::beginTrace(http::RequestHead& head) {
  const tracing::Tracing& settings = *config().tracing;
  if (!trace_) trace_ = std::make_unique<RequestTrace>();
  info_.trace = trace_.get();
  const Reason reason = decideTrace(head.headers);
  const route::TraceSettings* const by_route = info_.route ? info_.route->trace.get() : nullptr;
  const tracing::RouteTracing* const of_route =
      by_route && by_route->tracing ? &*by_route->tracing : nullptr;
  if (!trace_->begin({settings, of_route, reason, head, context().upstream.random, info_.start_us,
                      loop().nowMicros(),
                      settings.plan.spawns_upstream || config().router.start_child_span})) {
    return;
  }
  if (trace_->isNamedByFormat()) {
    format::FormatContext format;
    info_.fill(&format);
    trace_->nameBy(format, context().arena);
    return;
  }
  decorate(head.headers, by_route ? by_route->decorator.get() : nullptr);
}

// What a request is called by its route is told to the next proxy, or back to the one before.
void Stream::decorate(HeaderMap& headers, const plan::Decorator* decorator) {
  if (decorator && !decorator->operation.empty()) {
    trace_->setName(decorator->operation);
    if (!decorator->is_private) trace_->told_operation = decorator->operation;
  }
  if (config().tracing->is_egress) {
    if (trace_->told_operation.empty()) return;
    headers.set(HeaderId::XEnvoyDecoratorOperation, trace_->told_operation);
    return;
  }
  HeaderEntry* const said = headers.find(HeaderId::XEnvoyDecoratorOperation);
  if (!said) return;
  if (said->value_size > 0) {
    trace_->setName(said->value());
    trace_->told_operation = {};
  }
  headers.remove(HeaderId::XEnvoyDecoratorOperation);
}

void Stream::traceAnswer(HeaderMap& headers) {
  trace_->onAnswerBegun(loop().nowMicros());
  if (trace_->isNull() || trace_->isNamedByFormat()) return;
  if (!config().tracing->is_egress) {
    if (trace_->told_operation.empty()) return;
    headers.set(HeaderId::XEnvoyDecoratorOperation, trace_->told_operation);
    return;
  }
  const HeaderEntry* const said = headers.find(HeaderId::XEnvoyDecoratorOperation);
  if (!said) return;
  if (said->value_size > 0) trace_->setName(said->value());
  headers.remove(HeaderId::XEnvoyDecoratorOperation);
}

bool Stream::keepsResponseHead() const {
  if (config().logs_response_head) return true;
  return info_.trace && info_.trace->isSampled() &&
         (info_.is_grpc || config().tracing->reads_response_head);
}

void Stream::endTrace() {
  // As the real server: health checks are not traced, whatever was decided before they were known.
  const Reason reason = info_.is_health_check ? Reason::NotTraceable : trace_->reason();
  stats().add(counterOf(reason));
  if (trace_->isSampled() && !info_.is_health_check) {
    format::FormatContext format;
    info_.fillAnswer(&format);
    trace_->end(info_.traceFacts(format));
  }
  info_.trace = nullptr;
  trace_->clear();
}

tracing::Facts StreamInfo::traceFacts(const format::FormatContext& format) const {
  tracing::Facts facts{.format = format, .cluster = {}, .cluster_shown = {}};
  if (cluster) {
    facts.cluster = cluster->cluster().name();
    facts.cluster_shown = cluster->cluster().observabilityName();
    facts.of_cluster = cluster->cluster().settings().tag_metadata.get();
  }
  if (host) facts.host = host->settings().tag_metadata.get();
  if (route && route->trace) facts.route = route->trace->metadata.get();
  facts.is_grpc = is_grpc;
  facts.now_us = loop().nowMicros();
  facts.worker = context().upstream.worker;
  return facts;
}

}  // namespace fairlead::proxy
