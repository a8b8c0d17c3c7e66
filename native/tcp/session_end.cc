#include "format/origin.h"
#include "http/request_id.h"
#include "tcp/session.h"

namespace fairlead::tcp {

namespace {

using MetadataSource = plan::FormatPiece::MetadataSource;

}  // namespace

// ---- the end ----

void Session::releaseUpstream(bool by_peer, net::Connection::CloseKind kind) {
  if (tunnel_answer_) tunnel_answer_->on_asked = {};
  keepTunnelHead();
  if (host_shown_as_buffered_ > 0) showHostBuffered(0);
  counts_.end(by_peer);
  connect_deadline_ = net::kNever;
  server_socket_ = nullptr;
  if (Side* server = std::exchange(server_, nullptr)) server->end(kind);
}

void Session::finish(bool by_upstream, net::Connection::CloseKind kind) {
  if (finished_) return;
  finished_ = true;
  Timer::disarm();
  OnDemandWaiter::unlink();
  if (NameWaiter::isLinked()) {
    NameWaiter::unlink();
    proxy_.config().names->leave();
  }
  countBytes();
  if (shown_as_buffered_ > 0) showBuffered(0);
  // How its host is left is part of what is logged. A proxy of HTTP/1 is told of no resets.
  releaseUpstream(by_upstream, isHttp1Tunnel() ? net::Connection::CloseKind::Fin : kind);
  // The listener's line comes before the relay's own, as in the real server.
  leaveListener();
  logAccess(format::LogType::TcpConnectionEnd);
  if (SocketSide* client = std::exchange(client_, nullptr)) {
    client->end(kind);
  } else {
    proxy_.stats().down(stats::Tcp::Gauge::UpstreamFlushActive);
  }
  useHostCluster(nullptr);
  if (cluster_) cluster_->letGo();
  proxy_.context().loop.bury(std::unique_ptr<Mortal>(this));
}

void Session::logAgainLater() {
  log_deadline_ = proxy_.context().loop.now() + proxy_.config().plan.log_interval_ms;
  watch(log_deadline_);
}

format::Exchange* Session::exchange() {
  if (!exchange_ && format::isExchangeWanted()) exchange_ = std::make_unique<format::Exchange>();
  return exchange_.get();
}

uint64_t Session::roundTripMs() const { return client_ ? client_->roundTripMs() : 0; }

void Session::logAccess(format::LogType type) {
  const TcpProxyConfig& config = proxy_.config();
  if (config.access_logs.empty()) return;
  format::FormatContext context;
  fillFormat(&context);
  context.log_type = type;
  context.is_complete = type == format::LogType::TcpConnectionEnd;
  for (const auto& log : config.access_logs)
    log->write(proxy_.context().worker, context, proxy_.context().random.next());
}

void Session::fillFormat(format::FormatContext* context) const {
  context->start_time_us = started_wall_us_;
  context->duration_us = net::Loop::readClockMicros() - startedAtMicros();
  format::describeConnection(*this, context);
  describe(context);
}

void Session::describe(format::FormatContext* context) const {
  context->flags = flags_;
  if (!refusal().empty()) {
    context->flags.set(ResponseFlag::UnauthorizedExternalService);
    context->details = refusal();
  }
  context->bytes_received = received_;
  const uint64_t relayed = context->downstream.wire_received = received_ - refused_;
  if (connected_) context->upstream.wire_sent = relayed;
  context->bytes_sent = context->downstream.wire_sent = context->upstream.wire_received = sent_;
  if (tunnel_meter_.wire_sent > 0) {
    context->upstream = tunnel_meter_;
    // As the real server: what passes such a tunnel counts as HTTP's bytes, and once more as TCP's.
    if (proxy_.config().tunneling && connected_) {
      const uint64_t times = tunnel_request_bytes_ > 0 ? 2 : 1;
      context->upstream.wire_sent += times * relayed;
      context->upstream.wire_received += times * sent_;
    }
  }
  context->attempts = attempts_;
  context->filter_chain_name = proxy_.config().filter_chain_name;
  if (cluster_) context->upstream_cluster = cluster_->cluster().observabilityName();
  if (cluster_) context->upstream_cluster_raw = cluster_name_;
  context->transport_failure = transport_failure_;
  context->upstream_tls = upstream_tls_.get();
  if (host_) context->upstream_host = &host_->address();
  if (host_ && connected_) {
    context->upstream_remote = &host_cluster_->cluster().connectsTo(*host_);
  }
  if (metadata_) context->metadata = metadata_.get();
  context->tunnel_headers = tunnel_headers_;
  context->tunnel_trailers = tunnel_trailers_;
  if (connected_) context->upstream_local = &upstream_local_;
  context->started_us = startedAtMicros();
  context->exchange = exchange_.get();
  if (stream_id_.empty()) {
    char text[http::kRequestIdBytes];
    stream_id_ = http::writeRequestId(proxy_.context().random, text);
  }
  context->stream_id = stream_id_;
  context->downstream_close = client_close_;
  if (closedBy().empty()) context->downstream_close_reason = close_reason_;
  // Without a host there is none to be left, and a tunnel's end is none of its connection.
  if (connected_ && !proxy_.config().tunneling) {
    context->upstream_close_reason = closedBy().empty() ? close_reason_ : closedBy();
  }
  context->upstream_close = server_close_;
  if (host_) {
    context->upstream_host_name = host_->settings().hostname;
    if (connected_ && !host_->settings().metadata.empty()) {
      constexpr auto kHost = static_cast<size_t>(MetadataSource::UpstreamHost);
      context->configured_metadata[kHost] = &host_->settings().metadata;
    }
  }
  context->setMetadata(MetadataSource::Listener, proxy_.config().listener_metadata.get());
  context->setMetadata(MetadataSource::FilterChain, proxy_.config().chain_metadata.get());
  if (cluster_) {
    context->setMetadata(MetadataSource::Cluster, cluster_->settings().metadata.get());
  }
}

}  // namespace fairlead::tcp
