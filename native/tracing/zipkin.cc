// Zipkin's headers (B3): several, or one for all; beside them the W3C's where that is configured.
#include <optional>

#include "tracing/header_values.h"
#include "tracing/propagation.h"

namespace fairlead::tracing {

namespace {

constexpr std::string_view kB3 = "b3";
constexpr std::string_view kB3TraceId = "x-b3-traceid";
constexpr std::string_view kB3SpanId = "x-b3-spanid";
constexpr std::string_view kB3ParentId = "x-b3-parentspanid";
constexpr std::string_view kB3Sampled = "x-b3-sampled";
constexpr std::string_view kParentOfW3c = "traceparent";

// What a request says. `is_there`: of a span that this one goes on with.
struct Said {
  SpanIds ids;
  bool is_there = false;
  std::optional<bool> is_sampled;
};

bool isFlag(char c) { return c == '0' || c == '1' || c == 'd'; }

// "trace-span", "trace-span-flag" or "trace-span-flag-parent".
bool readSingleIds(std::string_view text, Said* said) {
  const size_t dash = text.find('-');
  if (dash != kHexDigits && dash != 2 * kHexDigits) return false;
  if (dash == 2 * kHexDigits && !readHex(text.substr(0, kHexDigits), &said->ids.trace_high)) {
    return false;
  }
  if (!readHex(text.substr(dash - kHexDigits, kHexDigits), &said->ids.trace_low)) return false;
  text.remove_prefix(dash + 1);
  if (text.size() < kHexDigits || !readHex(text.substr(0, kHexDigits), &said->ids.span)) {
    return false;
  }
  text.remove_prefix(kHexDigits);
  said->is_there = true;
  if (text.empty()) return true;
  if (text.size() < 2 || text[0] != '-' || !isFlag(text[1])) return false;
  said->is_sampled = text[1] != '0';
  text.remove_prefix(2);
  if (text.empty()) return true;
  if (text.size() != kHexDigits + 1 || text[0] != '-') return false;
  said->ids.has_parent = readHex(text.substr(1), &said->ids.parent);
  return said->ids.has_parent;
}

bool readSingle(std::string_view text, Said* said) {
  if (text.size() != 1) return readSingleIds(text, said);
  if (!isFlag(text[0])) return false;
  said->is_sampled = text[0] != '0';
  return true;
}

bool readTraceId(std::string_view text, SpanIds* ids) {
  if (text.size() != 2 * kHexDigits) return readHex(text, &ids->trace_low);
  return readHex(text.substr(0, kHexDigits), &ids->trace_high) &&
         readHex(text.substr(kHexDigits), &ids->trace_low);
}

bool readSeveral(const http::HeaderMap& headers, Said* said) {
  std::string_view trace;
  std::string_view span;
  std::string_view other;
  if (findValue(headers, kB3Sampled, &other)) said->is_sampled = other == "1" || other == "true";
  if (!findValue(headers, kB3SpanId, &span) || !findValue(headers, kB3TraceId, &trace)) return true;
  said->is_there = true;
  if (!readTraceId(trace, &said->ids) || !readHex(span, &said->ids.span)) return false;
  if (!findValue(headers, kB3ParentId, &other) || other.empty()) return true;
  said->ids.has_parent = readHex(other, &said->ids.parent);
  return said->ids.has_parent;
}

void readW3c(const http::HeaderMap& headers, Said* said) {
  std::string_view text;
  SpanIds ids;
  if (!findValue(headers, kParentOfW3c, &text) || !readTraceParent(text, &ids)) return;
  said->ids = ids;
  said->is_there = true;
  said->is_sampled = ids.is_sampled;
}

void beginTrace(const Incoming& incoming, const plan::ZipkinSpans& plan, SpanIds* ids) {
  ids->span = ids->trace_low = incoming.random.next();
  if (!plan.trace_id_128bit) return;
  ids->trace_high = incoming.random.next();
  if (!plan.timestamps_ids) return;
  const uint64_t seconds = incoming.now_us / 1'000'000;
  ids->trace_high = seconds << 32 | (ids->trace_high & 0xffffffff);
}

void appendTraceId(const SpanIds& ids, std::string* out) {
  if (ids.trace_high != 0) appendHex(ids.trace_high, out);
  appendHex(ids.trace_low, out);
}

void tellSingle(const SpanIds& ids, http::HeaderMap& headers, Arena& arena) {
  std::string text;
  appendTraceId(ids, &text);
  text.push_back('-');
  appendHex(ids.span, &text);
  text.append(ids.is_sampled ? "-1" : "-0");
  if (ids.has_parent) {
    text.push_back('-');
    appendHex(ids.parent, &text);
  }
  setHeader(headers, kB3, arena.copy(text));
}

std::string_view hexIn(uint64_t value, Arena& arena) {
  std::string text;
  appendHex(value, &text);
  return arena.copy(text);
}

}  // namespace

bool beginZipkin(const Incoming& incoming, SpanIds* ids, Baggage* baggage) {
  const plan::ZipkinSpans& plan = *incoming.tracing.plan.zipkin;
  Said said;
  std::string_view single;
  if (findValue(incoming.headers, kB3, &single)) {
    if (!readSingle(single, &said)) return false;
    baggage->is_single_header = true;
  } else if (!readSeveral(incoming.headers, &said)) {
    return false;
  }
  if (plan.with_w3c && !said.is_there && !said.is_sampled) readW3c(incoming.headers, &said);
  ids->is_sampled = said.is_sampled.value_or(incoming.is_traced);
  if (!said.is_there) {
    beginTrace(incoming, plan, ids);
    return true;
  }
  const bool is_sampled = ids->is_sampled;
  *ids = said.ids;
  ids->is_sampled = is_sampled;
  if (incoming.tracing.isServer() && plan.shared_context) return true;
  ids->parent = said.ids.span;
  ids->has_parent = true;
  ids->is_remote = true;
  ids->span = incoming.random.next();
  return true;
}

void tellZipkin(const Outgoing& outgoing, http::HeaderMap& headers, Arena& arena) {
  const SpanIds& ids = outgoing.ids;
  if (outgoing.baggage.is_single_header) {
    tellSingle(ids, headers, arena);
  } else {
    std::string trace;
    appendTraceId(ids, &trace);
    setHeader(headers, kB3TraceId, arena.copy(trace));
    setHeader(headers, kB3SpanId, hexIn(ids.span, arena));
    if (ids.has_parent && ids.parent != 0)
      setHeader(headers, kB3ParentId, hexIn(ids.parent, arena));
    setHeader(headers, kB3Sampled, ids.is_sampled ? "1" : "0");
  }
  if (outgoing.tracing.plan.zipkin->with_w3c) {
    setHeader(headers, kParentOfW3c, writeTraceParent(ids, arena));
  }
}

}  // namespace fairlead::tracing
