// How a span begins with what a request says of the trace it is part of, and how hosts are told.
// Each kind of tracer has headers of its own. Pure but for the generator.
#pragma once

#include "base/arena.h"
#include "base/random.h"
#include "http/message.h"
#include "tracing/span.h"
#include "tracing/tracing.h"

namespace fairlead::tracing {

struct Incoming {
  const Tracing& tracing;
  const http::HeaderMap& headers;
  Random& random;
  // As sampling has it.
  bool is_traced;
  // Of the wall clock, since 1970.
  uint64_t now_us;
};

// False: what the request says makes no sense, and goes on as it is without a span.
bool beginSpan(const Incoming& incoming, SpanIds* ids, Baggage* baggage);

// What a host is asked for as part of it.
SpanIds childOf(const SpanIds& parent, Random& random);

struct Outgoing {
  const Tracing& tracing;
  const SpanIds& ids;
  const Baggage& baggage;
  // What is done, and who is asked, for those who are told so.
  std::string_view operation;
  std::string_view peer;
};

// Strings that are made live in the arena.
void tellHost(const Outgoing& outgoing, http::HeaderMap& headers, Arena& arena);

// ---- one kind each ----
bool beginZipkin(const Incoming& incoming, SpanIds* ids, Baggage* baggage);
void tellZipkin(const Outgoing& outgoing, http::HeaderMap& headers, Arena& arena);
bool beginOpenTelemetry(const Incoming& incoming, SpanIds* ids, Baggage* baggage);
void tellOpenTelemetry(const Outgoing& outgoing, http::HeaderMap& headers, Arena& arena);
bool beginDatadog(const Incoming& incoming, SpanIds* ids, Baggage* baggage);
void tellDatadog(const Outgoing& outgoing, http::HeaderMap& headers, Arena& arena);
bool beginSkyWalking(const Incoming& incoming, SpanIds* ids, Baggage* baggage);
void tellSkyWalking(const Outgoing& outgoing, http::HeaderMap& headers, Arena& arena);

// The W3C's, which several use. False: it is none.
bool readTraceParent(std::string_view text, SpanIds* ids);
std::string_view writeTraceParent(const SpanIds& ids, Arena& arena);

}  // namespace fairlead::tracing
