#include "http/connect_answer.h"
#include "http/request_id.h"
#include "log/log.h"
#include "proxy/pool_use.h"
#include "tcp/session.h"

namespace fairlead::tcp {

namespace {

using format::ResponseFlag;

}  // namespace

// ---- tunnels ----

// What HTTP/1 hosts are asked for by CONNECT is a connection of its own, on which no codec is. So
// are all others, unless some are there before anybody needs them, or have to wait for each other.
bool Session::connectsThroughPool() const {
  const auto& tunneling = proxy_.config().tunneling;
  if (!tunneling) return cluster_->preconnects() || cluster_->limitsHosts();
  using Protocol = plan::Cluster::Protocol;
  const Protocol protocol = cluster_->settings().protocol;
  return tunneling->usesPost() || protocol == Protocol::Http2 || protocol == Protocol::ByAlpn;
}

void Session::connectThroughPool() {
  upstream::HttpPool* pool = cluster_->chooseHttpPool(http::Version::Http11, wish_);
  if (!pool) {
    endWithoutHost(ResponseFlag::NoHealthyUpstream, "tcp_initializion_failure:1");
    return;
  }
  ++attempts_;
  host_ = pool->host().shared_from_this();
  if (format::Exchange* const exchange = this->exchange()) {
    exchange->tried.push_back({host_->text(), host_->settings().hostname, 0});
  }
  useHostCluster(&pool->cluster());
  upstream::PoolUse use;
  use.tunnels = !proxy_.config().tunneling;
  if (findings()) use.source = findings()->source;
  if (net::isStateForHosts()) proxy::addStates(filterState(), nullptr, &use);
  if (host_cluster_->cluster().tellsClients()) {
    format::FormatContext format;
    fillFormat(&format);
    use.client = proxy_.config().proxied(*this, format);
  }
  if (cluster_->settings().pools_by_client) use.client_connection = id() + 1;
  pool = &host_cluster_->poolOf(*pool, use);
  if (proxy_.config().tunneling) makeTunnelId();
  auto* const side = new TunnelSide(*pool, proxy_.context().loop, tunnel_meter_, *this, *this);
  server_ = side;
  side->start();
}

// Each try has one of its own.
void Session::makeTunnelId() {
  const Tunneling& tunneling = *proxy_.config().tunneling;
  if (tunneling.idHeader().empty()) return;
  metadata_ = std::make_unique<net::Findings::Metadata>();
  if (const net::Findings::Metadata* const known = metadata()) *metadata_ = *known;
  char text[http::kRequestIdBytes];
  (*metadata_)[std::string(Tunneling::kMetadataSpace)][tunneling.idKey()] =
      http::writeRequestId(proxy_.context().random, text);
}

std::string_view Session::tunnelId() const {
  if (!metadata_) return {};
  return metadata_->find(Tunneling::kMetadataSpace)
      ->second.find(proxy_.config().tunneling->idKey())
      ->second;
}

void Session::onTunnelReady(http::ClientStream& stream, upstream::PooledConnection& connection) {
  if (format::Exchange* const exchange = this->exchange()) {
    using Point = format::TimePoint;
    if (!proxy_.config().tunneling) {
      exchange->at(Point::UpstreamConnectBegin) = connection.startedAtMicros();
      exchange->at(Point::UpstreamConnectEnd) = connection.establishedAtMicros();
    }
    // Nobody may have asked for it when the host was chosen.
    if (exchange->tried.empty()) {
      exchange->tried.push_back({host_->text(), host_->settings().hostname, 0});
    }
    exchange->tried.back().connection_id = connection.id();
  }
  upstream_local_ = connection.localAddress();
  upstream_tls_ = connection.codec().connection().tls();
  const auto headers = std::make_unique<http::HeaderMap>();
  if (!proxy_.config().tunneling) {
    http::RequestOut bare{"CONNECT", {}, {}, headers.get()};
    bare.outlasts_answer = true;
    stream.sendHead(bare, false);
    return;
  }
  asks_tunnel_ = true;
  const Tunneling& tunneling = *proxy_.config().tunneling;
  format::FormatContext context;
  fillFormat(&context);
  Arena arena{1024};
  const TunnelRequest asked = tunneling.request(context, tunnelId(), *headers, arena);
  http::RequestOut head = {
      tunneling.usesPost() ? "POST" : "CONNECT",
      tunneling.usesPost() ? std::string_view(tunneling.path()) : asked.authority, asked.authority,
      asked.headers};
  if (upstream_tls_) head.scheme = "https";
  head.outlasts_answer = true;
  stream.sendHead(head, false);
  stream.flush();
}

void Session::onTunnelAsked() {
  connect_deadline_ = net::kNever;
  counts_.connected();
  host_cluster_->stats().add(stats::Cluster::Counter::UpstreamCxTxBytesTotal,
                             tunnel_request_bytes_);
}

// Of a CONNECT in HTTP/1.
void Session::keepTunnelHead() {
  if (!isTunnelAsked()) return;
  const std::string& head = tunnel_answer_->head;
  const std::string& interim = tunnel_answer_->interim;
  // Of all tries.
  tunnel_meter_.wire_sent += tunnel_request_bytes_;
  tunnel_meter_.header_sent += tunnel_header_bytes_;
  tunnel_meter_.plain_sent += tunnel_header_bytes_;
  tunnel_meter_.wire_received += interim.size() + head.size();
  stats::Shard<stats::Cluster>& stats = host_cluster_->stats();
  stats.add(stats::Cluster::Counter::UpstreamCxRxBytesTotal, interim.size() + head.size());
  for (std::string_view rest = interim; !rest.empty();) {
    const size_t bytes = http::connectHeadBytes(rest);
    countTunnelHead(rest.substr(0, bytes));
    rest.remove_prefix(bytes);
  }
  if (!head.empty()) {
    if (!tunnel_answer_->is_broken) countTunnelHead(head);
    if (proxy_.config().tunneling->keepsHeaders()) tunnel_headers_ = shownHead(head);
  }
  // The connection shares it, for as long as the tunnel.
  std::string().swap(tunnel_answer_->head);
  std::string().swap(tunnel_answer_->interim);
  tunnel_answer_ = nullptr;
}

// One that has come whole. As the real server, which adds all that came before to what it was
// before it was compressed.
void Session::countTunnelHead(std::string_view head) {
  tunnel_meter_.header_received += headerBytes(head);
  tunnel_meter_.plain_received += tunnel_meter_.header_received;
}

void Session::onTunnelAnswer(const http::ResponseHead& head) {
  if (!proxy_.config().tunneling || !proxy_.config().tunneling->keepsHeaders()) return;
  tunnel_headers_ = shownHeaders(head.status, head.headers);
}

void Session::onTunnelTrailers(const http::HeaderMap& trailers) {
  if (!proxy_.config().tunneling || !proxy_.config().tunneling->keepsTrailers()) return;
  tunnel_trailers_ = shownHeaders(0, trailers);
}

// Who gives up a tunnel that has no answer yet says that it has failed.
void Session::noteWaitingTunnel() {
  if (!connected_ && (asks_tunnel_ || isTunnelAsked())) {
    flags_.set(format::ResponseFlag::UpstreamConnectionFailure);
  }
}

void Session::onTunnelFailed(std::string_view why) {
  log::debug(log::Component::Filter, log::Tags{.connection = id()}, "tunnel by ", host_->text(),
             " failed");
  transport_failure_ = why;
  flags_.set(format::ResponseFlag::UpstreamConnectionFailure);
  tellOutlier(upstream::OutlierResult::ConnectFailed);
  tryAgain();
}

}  // namespace fairlead::tcp
