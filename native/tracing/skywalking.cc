// SkyWalking's header: sw8, of eight parts.
#include <vector>

#include "base/base64.h"
#include "base/text.h"
#include "http/request_id.h"
#include "tracing/header_values.h"
#include "tracing/propagation.h"

namespace fairlead::tracing {

namespace {

constexpr std::string_view kSw8 = "sw8";
constexpr size_t kSw8Parts = 8;

std::string newId(Random& random) {
  char text[http::kRequestIdBytes];
  return std::string(http::writeRequestId(random, text));
}

void appendBase64(std::string_view text, std::string* out) {
  Base64Writer writer;
  writer.add(text, out);
  writer.finish(out);
}

// "sampled-trace-segment-span-service-instance-endpoint-peer", where all but numbers is base64.
// False: it is none.
bool readSw8(std::string_view text, SpanIds* ids, Baggage* baggage) {
  std::vector<std::string_view> parts;
  std::string_view rest = text;
  for (size_t dash = 0; dash != std::string_view::npos;) {
    dash = rest.find('-');
    parts.push_back(rest.substr(0, dash));
    if (dash != std::string_view::npos) rest.remove_prefix(dash + 1);
  }
  uint64_t span = 0;
  if (parts.size() != kSw8Parts || (parts[0] != "0" && parts[0] != "1") ||
      !parseDecimal(parts[3], &span)) {
    return false;
  }
  std::string decoded;
  for (const size_t part : {2, 4, 5, 6, 7}) {
    if (parts[part].empty() || !decodeBase64(parts[part], &decoded)) return false;
  }
  std::string trace;
  if (!decodeBase64(parts[1], &trace) || trace.empty()) return false;
  baggage->trace = trace;
  // Who the parent is stands in the segment as it was told.
  baggage->state = text;
  ids->has_parent = ids->is_remote = true;
  ids->is_sampled = parts[0] == "1";
  return true;
}

}  // namespace

bool beginSkyWalking(const Incoming& incoming, SpanIds* ids, Baggage* baggage) {
  std::string_view text;
  if (!findValue(incoming.headers, kSw8, &text) || !readSw8(text, ids, baggage)) {
    *ids = {};
    baggage->trace = newId(incoming.random);
    ids->is_sampled = incoming.is_traced;
  }
  if (!incoming.is_traced) ids->is_sampled = false;
  baggage->segment = newId(incoming.random);
  return true;
}

void tellSkyWalking(const Outgoing& outgoing, http::HeaderMap& headers, Arena& arena) {
  const plan::Tracing& plan = outgoing.tracing.plan;
  std::string text = outgoing.ids.is_sampled ? "1-" : "0-";
  appendBase64(outgoing.baggage.trace, &text);
  text.push_back('-');
  appendBase64(outgoing.baggage.segment, &text);
  text.append("-").append(std::to_string(outgoing.ids.span));
  for (const std::string_view part :
       {std::string_view(plan.service), std::string_view(plan.instance), outgoing.operation,
        outgoing.peer}) {
    text.push_back('-');
    appendBase64(part, &text);
  }
  setHeader(headers, kSw8, arena.copy(text));
}

}  // namespace fairlead::tracing
