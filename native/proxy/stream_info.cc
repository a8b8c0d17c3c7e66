#include "proxy/stream_info.h"

#include <ctime>

#include "format/origin.h"
#include "proxy/downstream.h"

namespace fairlead::proxy {

namespace {

uint64_t wallMicros() {
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
}

}  // namespace

log::Tags StreamInfo::makeTags() const { return {.connection = downstream->id(), .stream = id}; }

void StreamInfo::fill(format::FormatContext* out) const {
  format::FormatContext& format = *out;
  const auto since = [this](uint64_t at) { return at > 0 ? at - start_us : format::kUnknown; };
  format.duration_us = loop().nowMicros() - start_us;
  format.start_time_us = wallMicros() - format.duration_us;
  format.request_end_us = since(request_end_us);
  format.response_begin_us = since(response_begin_us);
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
  } else if (request.isSet()) {
    format.method = request.method();
    format.path = request.path();
    format.authority = request.authority();
    request.restore(&context().log_request);
    format.request_headers = &context().log_request;
  }
  if (format.request_headers) {
    format.scheme = scheme;
    const http::HeaderEntry* request_id = format.request_headers->find(http::HeaderId::XRequestId);
    if (request_id) format.stream_id = request_id->value();
  }
  format.details = details;
  format.transport_failure = transport_failure;
  format.bytes_received = bytes_received;
  format.bytes_sent = bytes_sent;
  format.downstream = downstream_bytes;
  format.upstream = upstream_bytes;
  format::describeOrigin(*downstream, &format);
  format.filter_metadata = metadata;
  if (client_address.isIp()) format.downstream_remote = &client_address;
  format.filter_chain_name = config().filter_chain_name;
  if (route) format.route_name = route->name;
  if (cluster) format.upstream_cluster = cluster->cluster().observabilityName();
  format.upstream_cluster_raw = cluster_name;
  if (host) format.upstream_remote = &host->address();
  if (upstream_local.isIp()) format.upstream_local = &upstream_local;
  format.upstream_tls = upstream_tls.get();
  format.attempts = attempts;
}

void StreamInfo::clear() {
  server = nullptr;
  downstream = nullptr;
  live_head = nullptr;
  request.clear();
  scheme = "http";
  client_address = {};
  odd_scheme.clear();
  is_internal = is_http_10 = is_http2 = is_head = is_connect = is_grpc = is_health_check = false;
  is_upgrade = is_websocket = is_extended_connect = is_granted = false;
  upgrade = nullptr;
  upgrade_name.clear();
  virtual_host = nullptr;
  route = nullptr;
  target = nullptr;
  table.reset();
  use(nullptr);
  cluster_name.clear();
  metadata.clear();
  host = nullptr;
  upstream_local = {};
  upstream_tls.reset();
  upstream_protocol = transport_failure = {};
  response.clear();
  response_trailers.clear();
  flags = {};
  details.clear();
  status = 0;
  attempts = 0;
  request_end_us = response_begin_us = request_forwarded_us = 0;
  bytes_received = bytes_sent = 0;
  downstream_bytes = upstream_bytes = {};
}

}  // namespace fairlead::proxy
