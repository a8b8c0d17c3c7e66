// What is told of a request's spans: the tags of the real server, in its order.
#include <charconv>
#include <optional>

#include "format/grpc_status.h"
#include "tracing/request_trace.h"

namespace fairlead::tracing {

namespace {

using format::FormatContext;
using http::HeaderEntry;
using http::HeaderId;

constexpr std::string_view kNothing = "-";

struct Decimal {
  explicit Decimal(uint64_t value) {
    size = static_cast<size_t>(std::to_chars(text, text + sizeof(text), value).ptr - text);
  }
  std::string_view view() const { return {text, size}; }

  char text[24];
  size_t size;
};

std::string_view valueOr(const FormatContext& format, HeaderId id, std::string_view otherwise) {
  const HeaderEntry* const entry =
      format.request_headers ? format.request_headers->find(id) : nullptr;
  return entry ? entry->value() : otherwise;
}

// As the client wrote it, cut.
void appendUrl(const FormatContext& format, uint32_t max_path_bytes, std::string* out) {
  const std::string_view original = valueOr(format, HeaderId::XEnvoyOriginalPath, {});
  const std::string_view path = original.empty() ? format.path : original;
  out->append(valueOr(format, HeaderId::XForwardedProto, {})).append("://");
  out->append(format.authority).append(path.substr(0, max_path_bytes));
}

// What a host, and not its client, is to blame for.
bool isFault(std::string_view grpc_status) {
  for (const std::string_view fault : {"2", "4", "8", "12", "13", "14", "15"}) {
    if (grpc_status == fault) return true;
  }
  return false;
}

std::string_view valueIn(const http::HeaderMap* headers, HeaderId id) {
  const HeaderEntry* const entry = headers ? headers->find(id) : nullptr;
  return entry ? entry->value() : std::string_view();
}

}  // namespace

void RequestTrace::writeOwnTags(const Facts& facts) {
  const FormatContext& format = facts.format;
  const auto text = [&](std::string_view name, std::string_view value) {
    record_.tag(name, value);
  };
  if (format.request_headers) {
    const std::string_view id = valueOr(format, HeaderId::XRequestId, {});
    if (!id.empty()) text("guid:x-request-id", id);
    scratch_.clear();
    appendUrl(format, tracing_->plan.max_path_bytes, &scratch_);
    text("http.url", scratch_);
    text("http.method", format.method);
    text("downstream_cluster", valueOr(format, HeaderId::XEnvoyDownstreamServiceCluster, kNothing));
    text("user_agent", valueOr(format, HeaderId::UserAgent, kNothing));
    text("http.protocol", format.protocol);
    if (const net::Address* const peer = format.downstream_direct_remote) {
      text("peer.address", peer->isIp() ? peer->ip() : peer->text());
    }
    const std::string_view client = valueOr(format, HeaderId::XClientTraceId, {});
    if (!client.empty()) text("guid:x-client-trace-id", client);
    if (facts.is_grpc) {
      text("grpc.path", format.path);
      text("grpc.authority", format.authority);
      text("grpc.content_type", valueOr(format, HeaderId::ContentType, {}));
      const std::string_view timeout = valueOr(format, HeaderId::GrpcTimeout, {});
      if (!timeout.empty()) text("grpc.timeout", timeout);
    }
  }
  text("request_size", Decimal(format.bytes_received).view());
  text("response_size", Decimal(format.bytes_sent).view());
  writeCommonTags(facts, format.status, format.flags);
  const std::string_view in_trailers = valueIn(format.response_trailers, HeaderId::GrpcStatus);
  const http::HeaderMap* const answer =
      in_trailers.empty() ? format.response_headers : format.response_trailers;
  writeGrpcAnswer(valueIn(answer, HeaderId::GrpcStatus), valueIn(answer, HeaderId::GrpcMessage));
}

void RequestTrace::writeTryTags(const Try& one, const Facts& facts) {
  const FormatContext& format = facts.format;
  const auto text = [&](std::string_view name, std::string_view value) {
    record_.tag(name, value);
  };
  if (one.number > 1) text("retry.count", Decimal(one.number - 1).view());
  writeGrpcAnswer(one.grpc_status, one.grpc_message);
  if (one.is_canceled) text("canceled", "true");
  if (one.is_failed) {
    text("error", "true");
    text("error.reason", one.failure);
  }
  const bool is_connected = one.tx_us > 0 && !format.upstream_protocol.empty();
  text("http.protocol", is_connected ? format.upstream_protocol : kNothing);
  if (format.upstream_host) {
    const std::string address(format.upstream_host->text());
    text("upstream_address", address);
    text("peer.address", address);
  }
  writeCommonTags(facts, one.status, one.flags);
}

void RequestTrace::writeCommonTags(const Facts& facts, uint16_t status,
                                   format::ResponseFlags flags) {
  record_.tag("component", "proxy");
  if (!facts.cluster.empty()) {
    record_.tag("upstream_cluster", facts.cluster);
    record_.tag("upstream_cluster.name", facts.cluster_shown);
  }
  record_.tag("http.status_code", Decimal(status).view());
  scratch_.clear();
  flags.appendTo(&scratch_, false);
  record_.tag("response_flags", scratch_);
  if (status == 0 || status / 100 == 5) record_.tag("error", "true");
  writeCustomTags(facts);
}

void RequestTrace::writeGrpcAnswer(std::string_view status, std::string_view message) {
  if (status.empty()) return;
  record_.tag("grpc.status_code", status);
  if (!message.empty()) record_.tag("grpc.message", message);
  if (isFault(status)) record_.tag("error", "true");
}

void RequestTrace::writeCustomTags(const Facts& facts) {
  static const std::vector<Tag> kNone;
  const std::vector<Tag>& own = route_ ? route_->tags : kNone;
  for (const Tag& tag : tracing_->tags) {
    bool is_overridden = false;
    for (const Tag& other : own) is_overridden |= other.name == tag.name;
    if (!is_overridden) writeTag(tag, facts);
  }
  for (const Tag& tag : own) writeTag(tag, facts);
}

void RequestTrace::writeTag(const Tag& tag, const Facts& facts) {
  std::string_view value;
  if (tag.source == Tag::Source::Format) {
    arena_.reset();
    value = tag.format.formatTo(facts.format, arena_);
  } else {
    const plan::TagMetadata* const metadata = tag.source == Tag::Source::Route  ? facts.route
                                              : tag.source == Tag::Source::Host ? facts.host
                                                                                : facts.of_cluster;
    if (const std::string* const found = findTagValue(metadata, tag.space, tag.path)) {
      value = *found;
    }
  }
  if (value.empty()) value = tag.default_value;
  if (!value.empty()) record_.tag(tag.name, value, tag.type);
}

// ---- when bytes came and went ----

void RequestTrace::writeOwnEvents(const Facts& facts) {
  const auto event = [&](Event which, uint64_t at_us) {
    if (at_us > 0) record_.event(which, wall(at_us));
  };
  if (facts.format.request_end_us != format::kUnknown) {
    event(Event::LastDownstreamRx, start_us_ + facts.format.request_end_us);
  }
  event(Event::FirstUpstreamTx, first_tx_us_);
  event(Event::LastUpstreamTx, last_tx_us_);
  event(Event::FirstUpstreamRx, first_rx_us_);
  event(Event::LastUpstreamRx, last_rx_us_);
  event(Event::FirstDownstreamTx, first_downstream_tx_us_);
  event(Event::LastDownstreamTx, first_downstream_tx_us_ > 0 ? facts.now_us : 0);
}

void RequestTrace::writeTryEvents(const Try& one, const Facts& facts) {
  const auto event = [&](Event which, uint64_t at_us) {
    if (at_us > 0) record_.event(which, wall(at_us));
  };
  event(Event::FirstUpstreamTx, one.tx_us);
  event(Event::LastUpstreamTx, one.tx_us > 0 ? std::max(one.tx_us, last_tx_us_) : 0);
  event(Event::FirstUpstreamRx, one.first_rx_us);
  event(Event::LastUpstreamRx, one.first_rx_us > 0 && !one.is_canceled ? facts.now_us : 0);
}

}  // namespace fairlead::tracing
