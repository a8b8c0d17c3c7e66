#include "tracing/call_span.h"

#include "tracing/propagation.h"
#include "tracing/record.h"
#include "tracing/span_head.h"

namespace fairlead::tracing {

CallSpan::CallSpan(const Start& start)
    : tracing_(start.tracing),
      ids_(start.ids),
      baggage_(start.baggage),
      request_(start.request),
      name_(start.name),
      start_us_(start.now_us),
      wall_offset_us_(start.wall_offset_us) {}

void CallSpan::tellHost(http::HeaderMap& headers, Arena& arena) const {
  tracing::tellHost({tracing_, ids_, baggage_, request_, {}}, headers, arena);
}

void CallSpan::tagHttp(const HttpEnd& end) {
  tag("http.protocol", "HTTP/1.1");
  if (!end.asked.empty()) {
    tag("upstream_address", end.asked);
    tag("peer.address", end.asked);
  }
  tag("component", "proxy");
  if (!end.cluster.empty()) {
    tag("upstream_cluster", end.cluster);
    tag("upstream_cluster.name", end.cluster_shown);
  }
  tag("http.status_code", std::to_string(end.status));
  tag("response_flags", end.flag.empty() ? std::string_view("-") : end.flag);
  if (end.status == 0 || end.status / 100 == 5) tag("error", "true");
}

void CallSpan::end(uint64_t now_us, unsigned worker, std::string_view peer) {
  if (!ids_.is_sampled) return;
  Record record;
  beginRecord({tracing_, ids_, baggage_, Record::kChild, name_, peer, start_us_ + wall_offset_us_,
               now_us - start_us_, worker},
              &record);
  record.beginTags();
  for (const auto& [name, value] : tags_) record.tag(name, value);
  record.endTags();
  record.beginEvents();
  record.endEvents();
  tracing_.spans.push(worker, record.finish());
}

}  // namespace fairlead::tracing
