// The headers of the W3C's Trace Context, as OpenTelemetry uses them.
#include <cstring>

#include "tracing/header_values.h"
#include "tracing/propagation.h"

namespace fairlead::tracing {

namespace {

constexpr std::string_view kTraceParent = "traceparent";
constexpr std::string_view kTraceState = "tracestate";
// "00-" trace "-" span "-" flags
constexpr size_t kParentBytes = 55;

// By the first eight digits of the trace's id, as the real server reckons.
bool isOfShare(const plan::SpanSampler& sampler, const SpanIds& ids) {
  std::string digits;
  appendHex(ids.trace_high, &digits);
  uint64_t number = 0;
  std::memcpy(&number, digits.data(), sizeof(number));
  return sampler.of > 0 && number % sampler.of < sampler.share;
}

// `is_parent_sampled`: null: it has no parent.
bool isSampled(const plan::SpanSampler& sampler, const SpanIds& ids,
               const bool* is_parent_sampled) {
  switch (sampler.kind) {
    case plan::SpanSampler::Kind::Always:
      return true;
    case plan::SpanSampler::Kind::Ratio:
      return isOfShare(sampler, ids);
    case plan::SpanSampler::Kind::Parent:
      if (is_parent_sampled) return *is_parent_sampled;
      return sampler.next && isSampled(*sampler.next, ids, nullptr);
  }
  return false;
}

}  // namespace

bool readTraceParent(std::string_view text, SpanIds* ids) {
  if (text.size() != kParentBytes || text[2] != '-' || text[35] != '-' || text[52] != '-') {
    return false;
  }
  uint64_t version = 0;
  uint64_t flags = 0;
  if (!readHex(text.substr(0, 2), &version) || !readHex(text.substr(3, 16), &ids->trace_high) ||
      !readHex(text.substr(19, 16), &ids->trace_low) || !readHex(text.substr(36, 16), &ids->span) ||
      !readHex(text.substr(53, 2), &flags)) {
    return false;
  }
  ids->is_sampled = (flags & 1) != 0;
  return (ids->trace_high | ids->trace_low) != 0 && ids->span != 0;
}

std::string_view writeTraceParent(const SpanIds& ids, Arena& arena) {
  std::string text = "00-";
  appendHex(ids.trace_high, &text);
  appendHex(ids.trace_low, &text);
  text.push_back('-');
  appendHex(ids.span, &text);
  text.append(ids.is_sampled ? "-01" : "-00");
  return arena.copy(text);
}

bool beginOpenTelemetry(const Incoming& incoming, SpanIds* ids, Baggage* baggage) {
  const plan::SpanSampler* const sampler = incoming.tracing.plan.sampler.get();
  std::string_view text;
  SpanIds parent;
  const bool has_parent = findValue(incoming.headers, kTraceParent, &text) != nullptr;
  if (has_parent) {
    if (!readTraceParent(text, &parent)) return false;
    *ids = parent;
    ids->parent = parent.span;
    ids->has_parent = ids->is_remote = true;
    std::string_view state;
    if (findValue(incoming.headers, kTraceState, &state)) baggage->state = state;
  } else {
    ids->trace_high = incoming.random.next();
    ids->trace_low = incoming.random.next();
    ids->is_sampled = incoming.is_traced;
  }
  ids->span = incoming.random.next();
  if (!sampler) return true;
  ids->is_sampled =
      incoming.is_traced && isSampled(*sampler, *ids, has_parent ? &parent.is_sampled : nullptr);
  return true;
}

void tellOpenTelemetry(const Outgoing& outgoing, http::HeaderMap& headers, Arena& arena) {
  setHeader(headers, kTraceParent, writeTraceParent(outgoing.ids, arena));
  setHeader(headers, kTraceState, arena.copy(outgoing.baggage.state));
}

}  // namespace fairlead::tracing
