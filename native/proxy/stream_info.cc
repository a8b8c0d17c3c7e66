#include "proxy/stream_info.h"

#include <utility>

#include "base/wall_clock.h"
#include "format/origin.h"
#include "proxy/downstream.h"

namespace fairlead::proxy {

namespace {
constexpr std::string_view kOverflowDetails = "upstream_reset_before_response_started{overflow}";
}  // namespace

log::Tags StreamInfo::makeTags() const {
  return {.connection = downstream ? downstream->id() : 0, .stream = id};
}

void StreamInfo::fill(format::FormatContext* out) const {
  format::FormatContext& format = *out;
  const auto since = [this](uint64_t at) { return at > 0 ? at - start_us : format::kUnknown; };
  format.duration_us = loop().nowMicros() - start_us;
  format.start_time_us = wallClockMicros() - format.duration_us;
  format.request_end_us = since(request_end_us);
  format.response_begin_us = since(response_begin_us);
  if (is_answer_whole) format.response_end_us = format.duration_us;
  format.flags = flags;
  format.is_health_check = is_health_check;
  format.status = status;
  format.protocol = is_http2 ? "HTTP/2" : is_http_10 ? "HTTP/1.0" : "HTTP/1.1";
  format.upstream_protocol = upstream_protocol;
  if (live_head) {
    format.method = live_head->method;
    format.path = live_head->path;
    format.authority = live_head->authority;
    format.request_headers = &live_head->headers;
  } else if (uncommon_.request.isSet()) {
    format.method = uncommon_.request.method();
    format.path = uncommon_.request.path();
    format.authority = uncommon_.request.authority();
    uncommon_.request.restore(&context().log_request);
    format.request_headers = &context().log_request;
  }
  if (format.request_headers) {
    format.scheme = scheme;
    const http::HeaderEntry* request_id = format.request_headers->find(http::HeaderId::XRequestId);
    if (request_id) format.stream_id = request_id->value();
  }
  format.details = details;
  format.transport_failure = uncommon_.transport_failure;
  format.bytes_received = bytes_received;
  format.bytes_sent = bytes_sent;
  format.downstream = downstream_bytes;
  format.upstream = upstream_bytes;
  if (downstream) format::describeOrigin(*downstream, &format);
  format.filter_metadata = uncommon_.metadata;
  format.typed_metadata = uncommon_.typed_metadata;
  format.filter_state = uncommon_.filter_state.get();
  if (client_address.isIp()) format.downstream_remote = &client_address;
  if (downstream) format.filter_chain_name = config().filter_chain_name;
  if (tells_other_route) [[unlikely]] {
    if (uncommon_.other_route) format.route_name = uncommon_.other_route->name;
    format.upstream_cluster = format.upstream_cluster_raw = uncommon_.other_cluster;
  } else if (route) {
    format.route_name = route->name;
  }
  if (cluster && !tells_other_route) {
    format.upstream_cluster = cluster->cluster().observabilityName();
    format.upstream_cluster_raw = cluster->settings().name;
  }
  if (host) format.upstream_host = &host->address();
  // Once a connection is there.
  if (cluster && host && !upstream_protocol.empty()) {
    format.upstream_remote = &cluster->cluster().connectsTo(*host);
  }
  const net::Address& upstream_local = uncommon_.upstream_local;
  if (upstream_local.isIp() || upstream_local.isInternal()) format.upstream_local = &upstream_local;
  format.upstream_tls = uncommon_.upstream_tls.get();
  format.attempts = attempts;
  if (trace) {
    format.trace_id = trace->traceId();
    format.span_id = trace->spanId();
  }
  if (group && !group->is_rest) format.virtual_cluster = group->name;
  format.started_us = start_us;
  format.exchange = has_uncommon_ ? uncommon_.exchange.get() : nullptr;
  format.local_reply_owner = uncommon_.reply_owner;
  if (host) format.upstream_host_name = host->settings().hostname;
  // As the real server, also of a host that was chosen and had no room.
  if (host || details == kOverflowDetails) format.upstream_close = format::CloseType::Normal;
  fillMetadata(&format);
}

void StreamInfo::fillMetadata(format::FormatContext* out) const {
  using Source = plan::FormatPiece::MetadataSource;
  if (downstream) {
    out->setMetadata(Source::Listener, config().listener_metadata.get());
    out->setMetadata(Source::FilterChain, config().chain_metadata.get());
  }
  const route::Route* const told = tells_other_route ? uncommon_.other_route : route;
  if (told && told->metadata) {
    out->setMetadata(Source::Route, told->metadata.get());
    out->route_typed = &told->metadata->typed;
  }
  if (virtual_host) out->setMetadata(Source::VirtualHost, virtual_host->plan.metadata.get());
  if (cluster && cluster->settings().metadata) {
    out->setMetadata(Source::Cluster, cluster->settings().metadata.get());
    out->cluster_typed = &cluster->settings().metadata->typed;
  }
  if (host && !host->settings().metadata.empty()) {
    out->configured_metadata[static_cast<size_t>(Source::UpstreamHost)] =
        &host->settings().metadata;
  }
}

void StreamInfo::fillAnswer(format::FormatContext* out) const {
  fill(out);
  if (uncommon_.response.isSet()) {
    uncommon_.response.restore(&context().log_response);
    out->response_headers = &context().log_response;
  }
  if (uncommon_.response_trailers.isSet()) {
    uncommon_.response_trailers.restore(&context().log_trailers);
    out->response_trailers = &context().log_trailers;
  }
}

route::RequestView StreamInfo::viewOf(const http::RequestHead& head) const {
  return {head.method,
          head.path,
          head.authority,
          scheme,
          &head.headers,
          id,
          downstream ? downstream->tls() : nullptr,
          this,
          [](const void* stream, format::FormatContext* out) {
            static_cast<const StreamInfo*>(stream)->fill(out);
          }};
}

upstream::WorkerCluster* StreamInfo::findTarget() const {
  upstream::WorkerClusters& clusters = context().clusters;
  const NameIds::Ref& named = target->cluster;
  return named ? clusters.find(named.id()) : clusters.find(uncommon_.cluster_name);
}

// Keeps what vectors and texts hold.
void StreamInfo::Uncommon::clear() {
  request.clear();
  response.clear();
  response_trailers.clear();
  odd_scheme.clear();
  upgrade_name.clear();
  upstream_tls.reset();
  transport_failure = {};
  upstream_local = {};
  cluster_name.clear();
  other_route = nullptr;
  other_cluster.clear();
  metadata.clear();
  typed_metadata.clear();
  request_names = nullptr;
  response_names.reset();
  older_table.reset();
  if (exchange) exchange->clear();
  reply_owner = {};
  filter_state.reset();
  request_limit.reset();
}

void StreamInfo::clear() {
  server = nullptr;
  downstream = nullptr;
  live_head = nullptr;
  scheme = {};
  client_address = {};
  connect_port = 0;
  lacks_scheme = is_internal = is_http_10 = is_http2 = is_head = is_connect = is_grpc =
      is_health_check = false;
  is_answer_whole = tells_other_route = false;
  is_upgrade = is_websocket = is_extended_connect = is_granted = false;
  upgrade = nullptr;
  virtual_host = nullptr;
  route = nullptr;
  target = nullptr;
  group = nullptr;
  table.reset();
  use(nullptr);
  host = nullptr;
  upstream_protocol = {};
  trace = nullptr;
  flags = {};
  details.clear();
  status = 0;
  attempts = 0;
  request_end_us = response_begin_us = request_forwarded_us = 0;
  bytes_received = bytes_sent = 0;
  downstream_bytes = upstream_bytes = {};
  if (std::exchange(has_uncommon_, false)) uncommon_.clear();
}

}  // namespace fairlead::proxy
