#include "tracing/call_span.h"

#include "tracing/propagation.h"
#include "tracing/span_head.h"

namespace fairlead::tracing {

void CallSpan::begin(const Start& start) {
  tracing_ = &start.tracing;
  ids_ = start.ids;
  baggage_ = start.baggage;
  request_ = start.request;
  name_ = start.name;
  start_us_ = start.now_us;
  wall_offset_us_ = start.wall_offset_us;
  tag_count_ = 0;
}

void CallSpan::tellHost(http::HeaderMap& headers, Arena& arena) const {
  tracing::tellHost({*tracing_, ids_, baggage_, request_, {}}, headers, arena);
}

void CallSpan::tag(std::string_view name, std::string_view value) {
  if (tag_count_ == tags_.size()) tags_.emplace_back();
  auto& [its_name, its_value] = tags_[tag_count_++];
  its_name = name;
  its_value = value;
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
  const Tracing& tracing = *std::exchange(tracing_, nullptr);
  if (!ids_.is_sampled) return;
  beginRecord({tracing, ids_, baggage_, Record::kChild, name_, peer, start_us_ + wall_offset_us_,
               now_us - start_us_, worker},
              &record_);
  record_.beginTags();
  for (size_t i = 0; i < tag_count_; ++i) record_.tag(tags_[i].first, tags_[i].second);
  record_.endTags();
  record_.beginEvents();
  record_.endEvents();
  tracing.spans.push(worker, record_.finish());
}

}  // namespace fairlead::tracing
