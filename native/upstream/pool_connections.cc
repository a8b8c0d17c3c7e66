// The pool's connections: made when requests wait, or ahead of them, and what comes of each.
#include <algorithm>
#include <cerrno>
#include <optional>

#include "log/log.h"
#include "upstream/connect.h"
#include "upstream/connect_socket.h"
#include "upstream/pool.h"
#include "upstream/worker_cluster.h"

namespace fairlead::upstream {

using CloseReason = PooledConnection::CloseReason;
using Counter = stats::Cluster::Counter;
using Gauge = stats::Cluster::Gauge;
using Histogram = stats::Cluster::Histogram;

namespace {

constexpr std::optional<uint32_t> kNoLimit;

std::string_view connectErrorText(int error) {
  switch (error) {
    case ECONNREFUSED:
      return "delayed connect error: Connection refused";
    default:
      return {};
  }
}

std::string_view connectErrorText(int error, const net::Connection& connection) {
  return error == EPROTO ? connection.transportFailure() : connectErrorText(error);
}

// By ALPN, where the configuration names nothing.
std::string_view offeredProtocols(http::ClientProtocol protocol) {
  switch (protocol) {
    case http::ClientProtocol::Http1:
      return "\x08http/1.1";
    case http::ClientProtocol::Http2:
      return "\x02h2";
    case http::ClientProtocol::ByAlpn:
      return "\x02h2\x08http/1.1";
  }
  return {};
}

// One of HTTP/2 whose socket could not be opened: as the real server, which had it for a moment.
void countUnopened(WorkerCluster& cluster) {
  using Http2Counter = stats::Http2Codec::Counter;
  stats::Shard<stats::Http2Codec>* const stats = cluster.http2Stats();
  const plan::Http2Options* const options = cluster.cluster().clientSettings().http2;
  if (!stats || !options) return;
  stats->add(options->counts_as_oghttp2 ? Http2Counter::Oghttp2UpstreamConnections
                                        : Http2Counter::Nghttp2UpstreamConnections);
}

}  // namespace

// ---- connections made ahead ----

bool HttpPool::isAhead() const { return cluster_.settings().preconnect_millionths != 0; }

uint64_t HttpPool::roomFor(uint64_t enough) {
  uint64_t room = connecting_streams_;
  for (PooledConnection* connection = ready_.front(); connection && room < enough;
       connection = ready_.next(connection)) {
    room += connection->codec().freeStreams();
  }
  return room;
}

bool HttpPool::isShort(uint64_t millionths, uint32_t anticipated) {
  // Nor is a host that is not well given work for nothing.
  if (!host_->isHealthy()) return waiting_count_ > connecting_streams_;
  const bool is_short = isShortOfStreams(millionths, requestCount() + anticipated, active_,
                                         [this](uint64_t enough) { return roomFor(enough); });
  if (!is_short || waiting_count_ > connecting_streams_) return is_short;
  if (cluster_.cluster().connectsAhead(host_->settings())) return true;
  // As in the real server, not of those for requests that are only expected.
  if (anticipated == 0) cluster_.stats().add(Counter::UpstreamCxPreconnectSkipped);
  return false;
}

void HttpPool::openAhead(uint8_t priority, int most) {
  PoolFailure failure;
  while (most-- > 0 && !draining_ && isShort(cluster_.settings().preconnect_millionths, 0)) {
    if (!openConnection(priority, &failure)) return;
  }
}

bool HttpPool::preconnect(uint64_t millionths) {
  PoolFailure failure;
  return !draining_ && isShort(millionths, 1) && openConnection(0, &failure);
}

// ---- connections ----

bool HttpPool::isHostFull(uint8_t priority) const {
  const auto& limits = cluster_.settings().limits;
  const auto& most =
      priority < limits.size() ? limits[priority].max_connections_per_host : kNoLimit;
  return most && host_->sum(&HostCounters::cx_active) >= *most;
}

std::string_view HttpPool::refusalText(int error) {
  if (error == 0 || error == kOptionRefused) return {};
  std::string text = upstream::refusalText(*host_, cluster_.cluster(), use_.source.get(), error);
  for (const std::string& known : refusals_) {
    if (known == text) return known;
  }
  return refusals_.emplace_front(std::move(text));
}

bool HttpPool::openConnection(uint8_t priority, PoolFailure* failure) {
  open_error_ = 0;
  is_open_shed_ = false;
  stats::Shard<stats::Cluster>& stats = cluster_.stats();
  Budget& budget = cluster_.cluster().limits(priority).connections;
  *failure = PoolFailure::Overflow;
  UpstreamContext& context = cluster_.context();
  if (context.overload.isActive() &&
      context.overload.sheds(net::Overload::Subject::PointPoolConnection, context.random)) {
    is_open_shed_ = true;
    return false;
  }
  if (isHostFull(priority) || !budget.tryTake()) {
    stats.add(Counter::UpstreamCxOverflow);
    // A host without any connection gets one beyond the limit: its requests could never be served.
    if (connection_count_ > 0) return false;
    budget.take();
  }
  log::debug(log::Component::Pool, "creating a new connection to ", host_->text(),
             " (connecting=", connecting_, ")");
  int error = 0;
  ConnectionUse use;
  use.asked_name = use_.server_name;
  use.wanted_names = use_.wanted_names;
  use.chosen_protocols = use_.protocols;
  use.client = use_.client.get();
  use.source = use_.source.get();
  use.states = use_.states.get();
  use.protocols = offeredProtocols(protocol_);
  use.internal_listeners = context.internal_listeners;
  use.stats = &stats;
  use.host_counters = &counters_;
  net::Connection* const socket =
      beginConnection(*host_, cluster_.cluster(), context.loop, context.worker, &error, use);
  stats.add(Counter::UpstreamCxTotal);
  counters_.cx_total.add();
  if (!socket) {
    open_error_ = error;
    budget.giveBack();
    stats.add(Counter::UpstreamCxConnectFail);
    stats.add(Counter::UpstreamCxDestroy);
    // As the real server: it was there for a moment.
    stats.up(Gauge::UpstreamCxActive);
    stats.down(Gauge::UpstreamCxActive);
    if (isUnbound(error)) stats.add(Counter::BindErrors);
    const bool is_local = error < 0;
    stats.add(is_local ? Counter::UpstreamCxDestroyLocal : Counter::UpstreamCxDestroyRemote);
    if (!use_.tunnels && protocol_ != http::ClientProtocol::ByAlpn) {
      stats.add(protocol_ == http::ClientProtocol::Http2 ? Counter::UpstreamCxHttp2Total
                                                         : Counter::UpstreamCxHttp1Total);
      if (protocol_ == http::ClientProtocol::Http2) countUnopened(cluster_);
    }
    counters_.cx_connect_fail.add();
    if (connection_count_ == 0) countAsPool(false);
    *failure = is_local ? PoolFailure::LocalConnectFailure : PoolFailure::ConnectFailure;
    return false;
  }
  stats.up(Gauge::UpstreamCxActive);
  counters_.cx_active.add();
  auto* connection = new PooledConnection(*this, priority, expectedStreams());
  const http::ClientSettings& settings = cluster_.cluster().clientSettings();
  if (use_.tunnels) {
    connection->use(http::makeTunnelCodec(*socket, settings, context.scratch, *connection));
  } else {
    connection->use(http::makeClientCodec(protocol_, *socket, settings,
                                          {context.scratch, cluster_.http2Stats(), context.random},
                                          *connection));
    if (protocol_ != http::ClientProtocol::ByAlpn) countProtocol(*connection);
  }
  busy_.pushFront(connection);
  countAsPool(true);
  ++connection_count_;
  ++connecting_;
  connecting_streams_ += connection->expectedStreams();
  return true;
}

uint32_t HttpPool::expectedStreams() const {
  if (protocol_ == http::ClientProtocol::Http1 || alpn_said_http1_) return 1;
  const http::ClientSettings& settings = cluster_.cluster().clientSettings();
  const uint32_t streams = std::max(settings.http2->max_concurrent_streams, 1u);
  return settings.max_requests > 0 ? std::min(streams, settings.max_requests) : streams;
}

void HttpPool::noLongerConnecting(const PooledConnection& connection) {
  --connecting_;
  connecting_streams_ -= connection.expectedStreams();
}

void HttpPool::countProtocol(const PooledConnection& connection) {
  cluster_.stats().add(connection.codec().isMultiplexed() ? Counter::UpstreamCxHttp2Total
                                                          : Counter::UpstreamCxHttp1Total);
}

void HttpPool::place(PooledConnection& connection) {
  connection.unlink();
  (connection.hasRoom() ? ready_ : busy_).pushFront(&connection);
}

void HttpPool::onConnected(PooledConnection& connection) {
  noLongerConnecting(connection);
  if (protocol_ == http::ClientProtocol::ByAlpn) {
    countProtocol(connection);
    // As in the real server, which makes another of it once it knows.
    cluster_.stats().add(Counter::UpstreamCxTotal);
    counters_.cx_total.add();
    alpn_said_http1_ = !connection.codec().isMultiplexed();
  }
  log::debug(log::Component::Client, "connected to ", host_->text());
  cluster_.stats().record(Histogram::UpstreamCxConnectMs, connection.millisSinceStart());
  place(connection);
  serveWaiting();
  if (draining_) drain();
}

void HttpPool::onConnectFailed(PooledConnection& connection,
                               http::ClientCodecCallbacks::Failure failure, int error) {
  const bool is_timeout = failure == http::ClientCodecCallbacks::Failure::Timeout;
  stats::Shard<stats::Cluster>& stats = cluster_.stats();
  noLongerConnecting(connection);
  connectionEnded();
  bury(connection);
  cluster_.cluster().limits(connection.priority()).connections.giveBack();
  stats.add(Counter::UpstreamCxConnectFail);
  const std::string_view why = connectErrorText(error, connection.codec().connection());
  log::debug(log::Component::Pool, "client disconnected, failure reason: ", why, ": ",
             host_->text());
  if (is_timeout) stats.add(Counter::UpstreamCxConnectTimeout);
  stats.add(Counter::UpstreamCxDestroy);
  stats.add(is_timeout ? Counter::UpstreamCxDestroyLocal : Counter::UpstreamCxDestroyRemote);
  stats.down(Gauge::UpstreamCxActive);
  stats.record(Histogram::UpstreamCxLengthMs, connection.millisSinceStart());
  counters_.cx_connect_fail.add();
  counters_.cx_active.subtract();
  failWaiters(is_timeout ? PoolFailure::ConnectTimeout : PoolFailure::ConnectFailure, why);
}

void HttpPool::onStreamEnded(const PooledConnection& connection, const PoolWaiter& waiter,
                             http::ClientCodecCallbacks::StreamEnd end) {
  stats::Shard<stats::Cluster>& stats = cluster_.stats();
  --active_;
  stats.down(Gauge::UpstreamRqActive);
  counters_.rq_active.subtract();
  cluster_.cluster().limits(waiter.priority).requests.giveBack();
  using End = http::ClientCodecCallbacks::StreamEnd;
  // As the real server, which counts none of these where a stream is all of its connection.
  if (end == End::Complete || !connection.codec().isMultiplexed()) return;
  if (end == End::Connection) stats.add(Counter::UpstreamRqPendingFailureEject);
  if (end == End::LocalReset) stats.add(Counter::UpstreamRqTxReset);
  if (end == End::RemoteReset) stats.add(Counter::UpstreamRqRxReset);
}

void HttpPool::onRoom(PooledConnection& connection) {
  // One that connects has none to give yet.
  if (connection.isEstablished()) place(connection);
}

void HttpPool::onGoaway(PooledConnection& connection) {
  cluster_.stats().add(Counter::UpstreamCxCloseNotify);
  onRoom(connection);
}

void HttpPool::onClosed(PooledConnection& connection, CloseReason reason, bool lost_streams) {
  bury(connection);
  connectionEnded();
  if (!connection.isEstablished()) noLongerConnecting(connection);
  cluster_.cluster().limits(connection.priority()).connections.giveBack();
  countClose(connection, reason, lost_streams);
}

void HttpPool::countClose(const PooledConnection& connection, CloseReason reason,
                          bool lost_streams) {
  stats::Shard<stats::Cluster>& stats = cluster_.stats();
  stats.down(Gauge::UpstreamCxActive);
  stats.down(Gauge::UpstreamCxRxBytesBuffered, connection.shownAsBuffered());
  counters_.cx_active.subtract();
  const bool by_peer = reason == CloseReason::Peer || reason == CloseReason::PeerInMessage ||
                       reason == CloseReason::PeerAfterNotify;
  log::debug(log::Component::Client, "disconnect from ", host_->text(),
             by_peer ? ": remote close" : ": local close",
             ", requests: ", connection.requestCount());
  stats.add(Counter::UpstreamCxDestroy);
  stats.add(by_peer ? Counter::UpstreamCxDestroyRemote : Counter::UpstreamCxDestroyLocal);
  if (lost_streams || reason == CloseReason::RequestUnsent) {
    stats.add(Counter::UpstreamCxDestroyWithActiveRq);
    stats.add(by_peer ? Counter::UpstreamCxDestroyRemoteWithActiveRq
                      : Counter::UpstreamCxDestroyLocalWithActiveRq);
  }
  // As the real server, whose codec of HTTP/2 cannot tell that from a broken one.
  const bool is_served = reason == CloseReason::MaxDurationServed;
  const bool has_served_all =
      is_served || (reason == CloseReason::MaxRequests && connection.codec().isMultiplexed());
  if (reason == CloseReason::ProtocolError || reason == CloseReason::PeerInMessage ||
      has_served_all) {
    stats.add(Counter::UpstreamCxProtocolError);
  }
  if (reason == CloseReason::CloseNotify || reason == CloseReason::PeerAfterNotify ||
      reason == CloseReason::LocalAfterNotify) {
    stats.add(Counter::UpstreamCxCloseNotify);
  }
  if (reason == CloseReason::MaxRequests) stats.add(Counter::UpstreamCxMaxRequests);
  if (reason == CloseReason::IdleTimeout) stats.add(Counter::UpstreamCxIdleTimeout);
  if (reason == CloseReason::MaxDuration || is_served)
    stats.add(Counter::UpstreamCxMaxDurationReached);
  stats.record(Histogram::UpstreamCxLengthMs, connection.millisSinceStart());
  if (!use_.tunnels) stats.record(Histogram::UpstreamRqPerCx, connection.requestCount());
}

void HttpPool::bury(PooledConnection& connection) {
  connection.unlink();
  cluster_.context().loop.bury(std::unique_ptr<net::Mortal>(&connection));
}

void HttpPool::connectionEnded() {
  --connection_count_;
  if (connection_count_ == 0) countAsPool(false);
  if (goesWhenEmpty() && isEmpty()) cluster_.dropEmptyPoolsSoon();
}

void HttpPool::letGo() {
  --holders_;
  if (goesWhenEmpty() && isEmpty()) cluster_.dropEmptyPoolsSoon();
}

void HttpPool::drain() {
  draining_ = true;
  drainConnections();
}

void HttpPool::drainConnections() {
  // Those that connect are for requests that wait.
  for (List<PooledConnection>* list : {&ready_, &busy_}) {
    List<PooledConnection> draining;
    list->moveAllTo(draining);
    while (PooledConnection* connection = draining.popFront()) {
      busy_.pushFront(connection);
      if (connection->isEstablished()) connection->codec().drain();
    }
  }
}

}  // namespace fairlead::upstream
