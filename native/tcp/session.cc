#include "tcp/session.h"

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "base/wall_clock.h"
#include "log/log.h"
#include "net/filter_state.h"

namespace fairlead::tcp {

namespace {

using Counter = stats::Tcp::Counter;
using ClusterCounter = stats::Cluster::Counter;
using ConnectMode = plan::TcpProxy::ConnectMode;
using DemandCounter = stats::TcpOnDemand::Counter;
using format::ResponseFlag;

// What filters before this one may have said of the connection.
constexpr std::string_view kIdleState = "envoy.tcp_proxy.per_connection_idle_timeout_ms";

}  // namespace

Session::Session(TcpProxy& proxy, net::AcceptedSocket socket, net::ConnectionAccounts& accounts)
    : DownstreamConnection(accounts, socket), proxy_(proxy), started_wall_us_(wallClockMicros()) {
  upstream::UpstreamContext& context = proxy_.context();
  auto* connection = new net::Connection(
      context.loop, std::move(socket.fd), proxy_.config().buffer_limit_bytes,
      net::Connection::Start::Established,
      makeTransport(proxy_.config().transport,
                    {.worker = context.worker, .overload = &overload(), .owner = this}));
  connection->limitSlowness(proxy_.config().slow_timeout_ms);
  client_ = new SocketSide(*connection, context.scratch.batch, context.pipes, *this);
  setTls(connection->tls());
}

bool Session::start() {
  proxy_.stats().add(Counter::DownstreamCxTotal);
  // Nothing is read before there is somewhere to send it.
  client_->pauseReading();
  if (!client_->start()) {
    finish();
    return false;
  }
  const plan::TcpProxy& plan = proxy_.config().plan;
  watchDuration();
  restartIdle();
  if (plan.log_interval_ms > 0) logAgainLater();
  if (plan.logs_start) logAccess(format::LogType::TcpConnectionStart);
  if (plan.max_early_data_bytes) {
    client_->keepEarly(*plan.max_early_data_bytes);
    client_->resumeReading();
  }
  const net::Transport* const transport = client_->transport();
  waits_for_client_ = transport && transport->holdsBack();
  if (!waits_for_client_) goOn();
  return !finished_;
}

void Session::goOn() {
  if (!proxy_.config().names || lookUpServerName()) begin();
}

bool Session::mayConnect() const {
  switch (proxy_.config().plan.connect_mode) {
    case ConnectMode::Immediate:
      return true;
    case ConnectMode::OnData:
      return client_->earlyBytes() > 0;
    case ConnectMode::OnHandshake:
      return !tls() || handshakeAtMicros() > 0;
  }
  return true;
}

void Session::begin() {
  if (has_begun_ || waits_for_client_ || NameWaiter::isLinked() || !mayConnect()) return;
  goToCluster();
}

void Session::watchDuration() {
  const plan::TcpProxy& plan = proxy_.config().plan;
  net::Millis duration = plan.max_downstream_connection_duration_ms;
  if (duration == 0) return;
  const uint64_t share = plan.max_downstream_connection_duration_jitter;
  if (const uint64_t most = (duration * share + 9999) / 10'000; most > 0) {
    duration += proxy_.context().random.below(most);
  }
  duration_deadline_ = proxy_.context().loop.now() + duration;
  watch(duration_deadline_);
}

const std::string* Session::stateOf(std::string_view key) const {
  const net::FilterState* const state = filterState();
  return state ? state->find(key) : nullptr;
}

net::Millis Session::idleTimeout() const {
  net::Millis timeout = proxy_.config().plan.idle_timeout_ms;
  const net::FilterState* const state = filterState();
  const std::string* const own =
      state ? state->findAs(net::FilterState::Form::Digits, kIdleState) : nullptr;
  if (own) parseDecimal(*own, &timeout);
  return timeout;
}

void Session::restartIdle() {
  const net::Millis timeout = idleTimeout();
  if (timeout == 0) return;
  idle_deadline_ = proxy_.context().loop.now() + timeout;
  watch(idle_deadline_);
}

// What it sends first, or its end, comes before there is a host.
void Session::onEarly(Side&) {
  countBytes();
  if (isShedAt(net::Overload::Subject::PointTcpProxyData)) return;
  proxy_.stats().add(Counter::EarlyDataReceivedCountTotal);
  if (client_->earlyBytes() == 0) return;
  begin();
}

// ---- the connection is there ----

void Session::onConnected() {
  connected_ = true;
  tellOutlier(upstream::OutlierResult::ConnectedFinally);
  if (server_socket_) {
    upstream_local_ = host_->address().isInternal() ? net::InternalListeners::clientAddress()
                                                    : server_socket_->localAddress();
    upstream_tls_ = server_socket_->tls();
    if (isTunnelAsked()) {
      keepTunnelHead();
    } else {
      counts_.connected();
    }
    if (format::Exchange* const exchange = this->exchange(); exchange && !exchange->tried.empty()) {
      // As the real server, which tells nothing of the connections of tunnels.
      if (!proxy_.config().tunneling) {
        exchange->at(format::TimePoint::UpstreamConnectEnd) = net::Loop::readClockMicros();
      }
      exchange->tried.back().connection_id = counts_.id();
    }
  }
  notePoolAnswer();
  client_->join(*server_);
  server_->join(*client_);
  restartIdle();
  if (proxy_.config().plan.logs_connected) logAccess(format::LogType::TcpUpstreamConnected);
  if (!proxy_.config().plan.max_early_data_bytes) return client_->resumeReading();
  if (server_socket_) {
    host_cluster_->stats().add(ClusterCounter::UpstreamCxTxBytesTotal, client_->earlyBytes());
  }
  client_->passEarly();
}

// ---- relaying ----

bool Session::mayMove(Side& from) {
  return &from != client_ || !isShedAt(net::Overload::Subject::PointTcpProxyData);
}

void Session::onMoved(Side& from) {
  if (idle_deadline_ != net::kNever) {
    idle_deadline_ = proxy_.context().loop.now() + idleTimeout();
  }
  countBytes();
  if (proxy_.config().plan.checks_drain) endForDrain();
}

void Session::endForDrain() {
  upstream::UpstreamContext& context = proxy_.context();
  if (!client_ || finished_) return;
  if (!proxy_.config().drain->shouldClose(context.loop.now(), context.random)) return;
  log::debug(log::Component::Filter, log::Tags{.connection = id()},
             "drain closing tcp_proxy connection");
  proxy_.stats().add(Counter::DownstreamCxDrainClose);
  close_reason_ = "tcp_proxy_drain_close";
  if (client_->pendingBytes() == 0) return finish();
  // What the client has not taken yet still leaves.
  countBytes();
  client_->part();
  releaseUpstream(false);
}

void Session::countBytes() {
  if (!client_) return;
  const uint64_t received = client_->readBytes() - received_;
  const uint64_t sent = (server_ ? server_->readBytes() : sent_) - sent_;
  stats::Shard<stats::Tcp>& stats = proxy_.stats();
  if (received > 0) {
    stats.add(Counter::DownstreamCxRxBytesTotal, received);
    showBuffered(received);
  }
  if (sent > 0) stats.add(Counter::DownstreamCxTxBytesTotal, sent);
  // What a stream moves its connection counts; what comes early, onConnected(); what a filter has
  // refused, nobody.
  const bool is_refused = finished_ && (!termination().empty() || !refusal().empty());
  if (server_socket_ && connected_ && received > 0 && !is_refused) {
    host_cluster_->stats().add(ClusterCounter::UpstreamCxTxBytesTotal, received);
  }
  if (server_socket_ && sent > 0) {
    host_cluster_->stats().add(ClusterCounter::UpstreamCxRxBytesTotal, sent);
    showHostBuffered(sent);
  }
  received_ += received;
  if (is_refused) refused_ += received;
  sent_ += sent;
}

// As the real server has it: the latest read counts as buffered until the next.
void Session::showBuffered(uint64_t bytes) {
  stats::Shard<stats::Tcp>& stats = proxy_.stats();
  stats.up(stats::Tcp::Gauge::DownstreamCxRxBytesBuffered, bytes);
  stats.down(stats::Tcp::Gauge::DownstreamCxRxBytesBuffered, shown_as_buffered_);
  shown_as_buffered_ = bytes;
}

void Session::showHostBuffered(uint64_t bytes) {
  using Gauge = stats::Cluster::Gauge;
  stats::Shard<stats::Cluster>& stats = host_cluster_->stats();
  stats.up(Gauge::UpstreamCxRxBytesBuffered, bytes);
  stats.down(Gauge::UpstreamCxRxBytesBuffered, host_shown_as_buffered_);
  host_shown_as_buffered_ = bytes;
}

void Session::onFlowControl(Side& from, bool paused) {
  if (&from == client_) {
    proxy_.stats().add(paused ? Counter::DownstreamFlowControlPausedReadingTotal
                              : Counter::DownstreamFlowControlResumedReadingTotal);
    return;
  }
  host_cluster_->stats().add(paused ? ClusterCounter::UpstreamFlowControlPausedReadingTotal
                                    : ClusterCounter::UpstreamFlowControlResumedReadingTotal);
}

void Session::onEnded(Side& side) {
  // The read of an end alone leaves nothing buffered.
  if (&side == client_ && shown_as_buffered_ > 0) showBuffered(0);
  if (&side == server_ && host_shown_as_buffered_ > 0) showHostBuffered(0);
  // As the real server, and RFC 9110 (9.3.6), have it.
  if (isHttp1Tunnel()) return endAfter(&side == server_);
  if (!client_->hasEnded() || !server_->hasEnded()) return;
  // What a slow reader has not taken yet still leaves.
  if (client_->pendingBytes() == 0 && server_->pendingBytes() == 0) finish(&side == server_);
}

void Session::onDrained(Side& side) {
  if (!client_ || !server_) {
    finish(!server_);
  } else if (client_->hasEnded() && server_->hasEnded()) {
    onEnded(side);
  }
}

void Session::onBroken(Side& side) {
  const bool by_upstream = &side == server_;
  // What a host of HTTP/1 resets is a connection, of which the tunnel is told no more than its end.
  const bool was_reset = side.wasReset() && !(by_upstream && isHttp1Tunnel());
  if (!was_reset) return endAfter(by_upstream);
  if (by_upstream) {
    server_close_ = format::CloseType::RemoteReset;
    client_close_ = format::CloseType::LocalReset;
    flags_.set(ResponseFlag::UpstreamRemoteReset);
  } else {
    client_close_ = format::CloseType::RemoteReset;
  }
  // What the other side has not taken yet still leaves, and an end behind it.
  const Side* const left = by_upstream ? static_cast<const Side*>(client_) : server_;
  if (left && left->wouldLose()) return endAfter(by_upstream);
  finish(by_upstream, net::Connection::CloseKind::Reset);
}

bool Session::isHttp1Tunnel() const {
  if (!proxy_.config().tunneling) return false;
  return server_socket_ || (server_ && server_->endsWhole());
}

void Session::endAfter(bool by_upstream) {
  Side* const left = by_upstream ? client_ : server_;
  if (!connected_ || !left || left->pendingBytes() == 0) {
    finish(by_upstream);
    return;
  }
  // What the other side has not taken yet still leaves.
  countBytes();
  left->part();
  if (by_upstream) {
    releaseUpstream(true);
  } else {
    proxy_.stats().add(Counter::UpstreamFlushTotal);
    proxy_.stats().up(stats::Tcp::Gauge::UpstreamFlushActive);
    if (shown_as_buffered_ > 0) showBuffered(0);
    std::exchange(client_, nullptr)->end(net::Connection::CloseKind::Fin);
  }
}

// ---- deadlines ----

net::Millis Session::nextDeadline() const {
  return std::min({connect_deadline_, idle_deadline_, duration_deadline_, log_deadline_,
                   retry_deadline_, demand_deadline_});
}

void Session::watch(net::Millis deadline) { proxy_.context().loop.timers().armBy(this, deadline); }

void Session::onTimer() {
  const net::Millis now = proxy_.context().loop.now();
  if (log_deadline_ <= now) {
    countBytes();
    logAccess(format::LogType::TcpPeriodic);
    logAgainLater();
  }
  if (connect_deadline_ <= now) {
    connect_deadline_ = net::kNever;
    // A host that is there may take its time to answer.
    if (!isTunnelAsked()) connectFailed(true, 0);
  } else if (retry_deadline_ <= now) {
    retry_deadline_ = net::kNever;
    connect();
  } else if (demand_deadline_ <= now) {
    demand_deadline_ = net::kNever;
    OnDemandWaiter::unlink();
    proxy_.config()
        .demand_stats->shard(proxy_.context().worker + 1)
        ->add(DemandCounter::OnDemandClusterTimeout);
    endWithoutCluster();
  } else if (duration_deadline_ <= now) {
    proxy_.stats().add(Counter::MaxDownstreamConnectionDuration);
    flags_.set(ResponseFlag::DurationTimeout);
    noteWaitingTunnel();
    close_reason_ = "max_connection_duration_reached";
    finish();
  } else if (idle_deadline_ <= now) {
    proxy_.stats().add(Counter::IdleTimeout);
    noteWaitingTunnel();
    close_reason_ = "tcp_session_idle_timeout";
    finish();
  }
  if (!finished_ && nextDeadline() != net::kNever) watch(nextDeadline());
}

}  // namespace fairlead::tcp
