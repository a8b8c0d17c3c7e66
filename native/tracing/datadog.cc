// Datadog's headers, in decimal, and the W3C's beside them.
#include <charconv>

#include "base/text.h"
#include "tracing/header_values.h"
#include "tracing/propagation.h"

namespace fairlead::tracing {

namespace {

constexpr std::string_view kDatadogTraceId = "x-datadog-trace-id";
constexpr std::string_view kDatadogParentId = "x-datadog-parent-id";
constexpr std::string_view kDatadogPriority = "x-datadog-sampling-priority";
constexpr std::string_view kDatadogOrigin = "x-datadog-origin";
constexpr std::string_view kDatadogTags = "x-datadog-tags";
constexpr std::string_view kHighBits = "_dd.p.tid=";
// Why a trace that begins here is kept: by default.
constexpr std::string_view kDefaultMechanism = "_dd.p.dm=-0";
constexpr int kKeep = 1;
constexpr int kUserDrop = -1;

bool readPriority(std::string_view text, int* priority) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), *priority);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

// The upper half of the trace's id is among the tags.
void readHighBits(std::string_view tags, SpanIds* ids) {
  const size_t at = tags.find(kHighBits);
  if (at == std::string_view::npos) return;
  uint64_t high = 0;
  if (readHex(tags.substr(at + kHighBits.size(), kHexDigits), &high)) ids->trace_high = high;
}

std::string stateOf(const Outgoing& outgoing, int priority) {
  std::string state = "dd=s:" + std::to_string(priority) + ";p:";
  appendHex(outgoing.ids.span, &state);
  if (!outgoing.baggage.origin.empty()) state.append(";o:").append(outgoing.baggage.origin);
  const size_t mechanism = outgoing.baggage.state.find("_dd.p.dm=");
  if (mechanism != std::string::npos) {
    const std::string_view value = std::string_view(outgoing.baggage.state).substr(mechanism + 9);
    state.append(";t.dm:").append(value.substr(0, value.find(',')));
  }
  return state;
}

bool readDatadog(const http::HeaderMap& headers, SpanIds* ids, Baggage* baggage) {
  std::string_view trace;
  std::string_view text;
  if (!findValue(headers, kDatadogTraceId, &trace) || !parseDecimal(trace, &ids->trace_low))
    return false;
  ids->has_parent = findValue(headers, kDatadogParentId, &text) && parseDecimal(text, &ids->parent);
  if (findValue(headers, kDatadogPriority, &text)) {
    baggage->has_priority = readPriority(text, &baggage->priority);
  }
  if (findValue(headers, kDatadogOrigin, &text)) baggage->origin = text;
  if (findValue(headers, kDatadogTags, &text)) {
    baggage->state = text;
    readHighBits(text, ids);
  }
  return true;
}

}  // namespace

bool beginDatadog(const Incoming& incoming, SpanIds* ids, Baggage* baggage) {
  std::string_view text;
  SpanIds parent;
  if (readDatadog(incoming.headers, ids, baggage)) {
    ids->is_remote = true;
    ids->span = incoming.random.next();
  } else if (findValue(incoming.headers, "traceparent", &text) && readTraceParent(text, &parent)) {
    *ids = parent;
    ids->parent = parent.span;
    ids->has_parent = ids->is_remote = true;
    ids->span = incoming.random.next();
    baggage->has_priority = true;
    baggage->priority = parent.is_sampled ? kKeep : 0;
  } else {
    *ids = {};
    // Ids of spans have 63 bits, for those whose numbers have a sign.
    ids->span = ids->trace_low = incoming.random.next();
    ids->trace_high = incoming.now_us / 1'000'000 << 32;
    baggage->state = kHighBits;
    appendHex(ids->trace_high, &baggage->state);
    if (incoming.is_traced) baggage->state.append(",").append(kDefaultMechanism);
  }
  if (!incoming.is_traced && !baggage->has_priority) {
    baggage->has_priority = true;
    baggage->priority = kUserDrop;
  }
  // Also what is not kept is told of: the agent counts it.
  ids->is_sampled = true;
  return true;
}

void tellDatadog(const Outgoing& outgoing, http::HeaderMap& headers, Arena& arena) {
  const Baggage& baggage = outgoing.baggage;
  const int priority = baggage.has_priority ? baggage.priority : kKeep;
  SpanIds ids = outgoing.ids;
  ids.is_sampled = priority > 0;
  setHeader(headers, kDatadogTraceId, arena.decimal(ids.trace_low));
  setHeader(headers, kDatadogParentId, arena.decimal(ids.span));
  setHeader(headers, kDatadogPriority, arena.copy(std::to_string(priority)));
  if (!baggage.origin.empty()) setHeader(headers, kDatadogOrigin, arena.copy(baggage.origin));
  if (!baggage.state.empty()) setHeader(headers, kDatadogTags, arena.copy(baggage.state));
  setHeader(headers, "traceparent", writeTraceParent(ids, arena));
  setHeader(headers, "tracestate", arena.copy(stateOf(outgoing, priority)));
}

}  // namespace fairlead::tracing
