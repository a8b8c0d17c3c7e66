#include "tcp/session.h"

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "base/wall_clock.h"
#include "format/filter_state.h"
#include "log/log.h"
#include "proxy/destination.h"
#include "route/hash_policy.h"
#include "upstream/connect.h"

namespace fairlead::tcp {

namespace {

using Counter = stats::Tcp::Counter;
using ClusterCounter = stats::Cluster::Counter;
using ClusterGauge = stats::Cluster::Gauge;
using ClusterHistogram = stats::Cluster::Histogram;
using ConnectMode = plan::TcpProxy::ConnectMode;
using DemandCounter = stats::TcpOnDemand::Counter;
using format::ResponseFlag;

// What filters before this one may have said of the connection.
constexpr std::string_view kClusterState = "envoy.tcp_proxy.cluster";
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
  if (proxy_.config().names && !lookUpServerName()) return !finished_;
  begin();
  return !finished_;
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
  if (has_begun_ || NameWaiter::isLinked() || !mayConnect()) return;
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
  const format::FilterState* const state = filterState();
  return state ? state->find(key) : nullptr;
}

net::Millis Session::idleTimeout() const {
  net::Millis timeout = proxy_.config().plan.idle_timeout_ms;
  if (const std::string* const own = stateOf(kIdleState)) parseDecimal(*own, &timeout);
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
  if (client_->earlyBytes() == 0) return;
  proxy_.stats().add(Counter::EarlyDataReceivedCountTotal);
  begin();
}

// ---- a host by its name ----

bool Session::lookUpServerName() {
  const net::Findings* const found = findings();
  if (!found || found->server_name.empty()) return true;
  upstream::NameCache& names = *proxy_.config().names;
  const unsigned worker = proxy_.context().worker;
  host_name_ = found->server_name + ":" + std::to_string(proxy_.config().names_port);
  wish_.name = host_name_;
  const upstream::KnownName* known = nullptr;
  if (!names.enter(worker)) {
    finish();
    return false;
  }
  const auto state = names.ask(worker, host_name_, proxy_.context().loop.now(), *this, &known);
  if (state == upstream::NameCache::State::Waits) return false;
  names.leave();
  if (state == upstream::NameCache::State::Known) return true;
  finish();
  return false;
}

// Whether it is of use shows where its host is asked for.
void Session::onName(const upstream::KnownName&) {
  proxy_.config().names->leave();
  begin();
}

void Session::goToCluster() {
  has_begun_ = true;
  chooseCluster();
  log::debug(log::Component::Filter, log::Tags{.connection = id()},
             "Creating connection to cluster ", cluster_name_);
  if (cluster_) return connectToCluster();
  if (!askForCluster()) endWithoutCluster();
}

bool Session::askForCluster() {
  const TcpProxyConfig& config = proxy_.config();
  if (!config.waiters || cluster_name_.empty()) return false;
  config.demand_stats->shard(proxy_.context().worker + 1)
      ->add(DemandCounter::OnDemandClusterAttempt);
  const plan::OnDemandClusters& source = *config.plan.on_demand;
  config.waiters->wait(proxy_.context().worker,
                       {plan::Demand::Kind::Cluster, source.source, cluster_name_}, this);
  if (source.timeout_ms > 0) {
    demand_deadline_ = proxy_.context().loop.now() + source.timeout_ms;
    watch(demand_deadline_);
  }
  return true;
}

void Session::onMet() {
  demand_deadline_ = net::kNever;
  cluster_ = proxy_.findCluster(std::string_view(cluster_name_));
  proxy_.config()
      .demand_stats->shard(proxy_.context().worker + 1)
      ->add(cluster_ ? DemandCounter::OnDemandClusterSuccess
                     : DemandCounter::OnDemandClusterMissing);
  cluster_ ? connectToCluster() : endWithoutCluster();
}

void Session::endWithoutCluster() {
  flags_.set(ResponseFlag::NoClusterFound);
  close_reason_ = "tcp_initializion_failure:3";
  proxy_.stats().add(Counter::DownstreamCxNoRoute);
  finish();
}

void Session::connectToCluster() {
  cluster_->hold();
  if (const plan::DestinationHosts* const rules = cluster_->destinationRules()) {
    destination_ = proxy::findDestination(*rules, nullptr, *this, cluster_->stats());
    if (destination_) wish_.destination = &*destination_;
  }
  if (const plan::NamedHosts* const named = cluster_->namedHosts(); named && host_name_.empty()) {
    const net::Findings* const found = findings();
    if (found && !found->server_name.empty()) {
      host_name_ = upstream::nameWithPort(found->server_name, named->default_port);
      wish_.name = host_name_;
    }
  }
  connect();
}

void Session::chooseCluster() {
  const net::Findings* const found = findings();
  if (proxy_.config().cluster_of_server_name && found && !found->server_name.empty()) {
    cluster_name_ = found->server_name;
    cluster_ = proxy_.findCluster(std::string_view(cluster_name_));
    return;
  }
  // What a filter before this one has chosen goes before what is configured, but not before
  // weights.
  const std::string* const chosen = stateOf(kClusterState);
  if (chosen && proxy_.config().targets.size() == 1) {
    cluster_name_ = *chosen;
    cluster_ = proxy_.findCluster(std::string_view(cluster_name_));
    return;
  }
  const TcpProxyConfig::Target& target = proxy_.chooseTarget();
  const NameIds::Ref& cluster = target.cluster;
  wish_.criteria = &target.criteria;
  if (proxy_.config().plan.hashes_source_ip) wish_.hash = route::hashOfAddress(remote());
  cluster_name_ = cluster.name();
  cluster_ = proxy_.findCluster(cluster);
}

// ---- connecting ----

const net::Overload& Session::overload() const {
  return proxy_.config().bypasses_overload ? net::Overload::none() : proxy_.context().overload;
}

bool Session::isShedAt(net::Overload::Subject point) {
  if (!overload().isActive() || !overload().sheds(point, proxy_.context().random)) return false;
  proxy_.stats().add(Counter::DownstreamCxOverloadClose);
  finish();
  return true;
}

void Session::connect() {
  if (isShedAt(net::Overload::Subject::PointTcpProxyConnect)) {
    log::debug(log::Component::Filter, log::Tags{.connection = id()},
               "load shedding in establishUpstreamConnection");
    return;
  }
  stats::Shard<stats::Cluster>& stats = cluster_->stats();
  if (cluster_->cluster().limits(0).connections.isExhausted()) {
    stats.add(ClusterCounter::UpstreamCxOverflow);
    flags_.set(ResponseFlag::UpstreamOverflow);
    close_reason_ = "tcp_initializion_failure:2";
    finish();
    return;
  }
  if (connectsThroughPool()) {
    connectThroughPool();
  } else {
    connectToHost();
  }
}

void Session::useHostCluster(upstream::WorkerCluster* cluster) {
  if (cluster) cluster->hold();
  HealthFollower::unlink();
  if (cluster && cluster->settings().closes_with_health) cluster->follow(*this);
  if (host_cluster_) host_cluster_->letGo();
  host_cluster_ = cluster;
}

void Session::connectToHost() {
  const upstream::Aggregate::Place place = cluster_->placeFor(wish_);
  useHostCluster(place.member);
  host_ = place.member ? place.member->chooseHost(wish_, place.loads) : nullptr;
  if (!host_) {
    flags_.set(ResponseFlag::NoHealthyUpstream);
    close_reason_ = "tcp_initializion_failure:1";
    finish();
    return;
  }
  upstream::UpstreamContext& context = proxy_.context();
  if (context.overload.isActive() &&
      context.overload.sheds(net::Overload::Subject::PointPoolConnection, context.random)) {
    flags_.set(ResponseFlag::UpstreamOverflow);
    close_reason_ = "tcp_initializion_failure:2";
    finish();
    return;
  }
  ++attempts_;
  if (format::Exchange* const exchange = this->exchange()) {
    using Point = format::TimePoint;
    const uint64_t now_us = net::Loop::readClockMicros();
    exchange->at(Point::PoolBegin) = exchange->at(Point::UpstreamConnectBegin) = now_us;
    exchange->tried.push_back({host_->text(), host_->settings().hostname, 0});
  }
  upstream::ConnectionUse use;
  net::SharedProxiedClient client;
  if (host_cluster_->cluster().tellsClients()) {
    format::FormatContext format;
    fillFormat(&format);
    client = proxy_.config().proxied(*this, format);
  }
  use.client = client.get();
  if (findings()) use.source = findings()->source.get();
  use.internal_listeners = context.internal_listeners;
  const auto& tunneling = proxy_.config().tunneling;
  if (tunneling) {
    makeTunnelId();
    format::FormatContext format;
    fillFormat(&format);
    use.tunnel_head = tunneling->connectHead(format, tunnelId());
    if (tunneling->keepsHeaders())
      use.tunnel_answer = tunnel_head_ = std::make_shared<std::string>();
  }
  int error = 0;
  net::Connection* const connection = upstream::beginConnection(
      *host_, host_cluster_->cluster(), context.loop, context.worker, &error, use);
  counts_.begin(*host_cluster_, *host_, tunneling.has_value());
  if (!connection) {
    connectFailed(false, error);
    return;
  }
  server_ = server_socket_ =
      new SocketSide(*connection, context.scratch.batch, context.pipes, *this);
  connect_deadline_ = context.loop.now() + host_cluster_->settings().connect_timeout_ms;
  watch(connect_deadline_);
}

void Session::onConnectResult(Side& side, int error) {
  if (&side == client_) {
    // Of its handshake. Bytes wait until there is somewhere to send them.
    noteHandshake();
    if (error != 0) return finish();
    return begin();
  }
  connect_deadline_ = net::kNever;
  if (error != 0) {
    connectFailed(false, error);
    return;
  }
  onConnected();
}

void Session::connectFailed(bool timeout, int error) {
  // The host was there, and did not grant what it was asked for.
  const bool is_refused = error == EPROTO && proxy_.config().tunneling && server_socket_ &&
                          server_socket_->transportFailure().starts_with("tunnel_response");
  log::debug(log::Component::Filter, log::Tags{.connection = id()}, "connect to ", host_->text(),
             timeout ? " timed out" : " failed");
  transport_failure_ = error == ECONNREFUSED ? "delayed connect error: Connection refused"
                       : error == EPROTO     ? server_socket_->transportFailure()
                                             : "";
  if (error != 0 && !server_socket_) transport_failure_ = upstream::refusalText(*host_, error);
  keepTunnelHead();
  tellOutlier(timeout ? upstream::OutlierResult::Timeout : upstream::OutlierResult::ConnectFailed);
  if (is_refused) {
    counts_.tunnelRefused();
  } else {
    counts_.connectFailed(timeout);
  }
  tryAgain();
}

void Session::tellOutlier(upstream::OutlierResult result) {
  upstream::OutlierMonitor* const monitor = host_->outlier();
  if (monitor) monitor->put(host_->counters(proxy_.context().worker), result);
}

// Once a try has failed.
void Session::tryAgain() {
  releaseUpstream(false);
  if (attempts_ < std::max<uint32_t>(proxy_.config().plan.max_connect_attempts, 1)) {
    const net::Millis wait = backoff();
    if (wait == 0) return connect();
    retry_deadline_ = proxy_.context().loop.now() + wait;
    return watch(retry_deadline_);
  }
  cluster_->stats().add(ClusterCounter::UpstreamCxConnectAttemptsExceeded);
  flags_.set(ResponseFlag::UpstreamConnectionFailure);
  flags_.set(ResponseFlag::UpstreamRetryLimitExceeded);
  close_reason_ = "tcp_initializion_failure:0";
  finish(true);
}

// Before each try half as often as before the one before it, at random.
net::Millis Session::backoff() {
  const plan::TcpProxy& plan = proxy_.config().plan;
  if (plan.backoff_base_ms == 0) return 0;
  const uint32_t doublings = std::min<uint32_t>(attempts_ - 1, 31);
  const uint64_t longest = std::min(plan.backoff_base_ms << doublings, plan.backoff_max_ms);
  return proxy_.context().random.below(longest);
}

// ---- the connection is there ----

void Session::onConnected() {
  connected_ = true;
  tellOutlier(upstream::OutlierResult::ConnectedFinally);
  if (server_socket_) {
    upstream_local_ = host_->address().isInternal() ? net::InternalListeners::clientAddress()
                                                    : server_socket_->localAddress();
    upstream_tls_ = server_socket_->tls();
    counts_.connected();
    keepTunnelHead();
    if (format::Exchange* const exchange = this->exchange(); exchange && !exchange->tried.empty()) {
      using Point = format::TimePoint;
      const uint64_t now_us = net::Loop::readClockMicros();
      exchange->at(Point::PoolReady) = exchange->at(Point::UpstreamConnectEnd) = now_us;
      exchange->tried.back().connection_id = counts_.id();
    }
  }
  client_->join(*server_);
  server_->join(*client_);
  restartIdle();
  if (proxy_.config().plan.logs_connected) logAccess(format::LogType::TcpUpstreamConnected);
  if (!proxy_.config().plan.max_early_data_bytes) return client_->resumeReading();
  if (server_socket_) {
    cluster_->stats().add(ClusterCounter::UpstreamCxTxBytesTotal, client_->earlyBytes());
  }
  client_->passEarly();
}

// ---- relaying ----

void Session::onMoved(Side& from) {
  if (idle_deadline_ != net::kNever) {
    idle_deadline_ = proxy_.context().loop.now() + idleTimeout();
  }
  countBytes();
  if (&from == client_ && isShedAt(net::Overload::Subject::PointTcpProxyData)) return;
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
  // What a stream moves its connection counts.
  if (server_socket_ && received > 0) {
    cluster_->stats().add(ClusterCounter::UpstreamCxTxBytesTotal, received);
  }
  if (server_socket_ && sent > 0) {
    cluster_->stats().add(ClusterCounter::UpstreamCxRxBytesTotal, sent);
  }
  received_ += received;
  sent_ += sent;
}

// As the real server has it: the latest read counts as buffered until the next.
void Session::showBuffered(uint64_t bytes) {
  stats::Shard<stats::Tcp>& stats = proxy_.stats();
  stats.up(stats::Tcp::Gauge::DownstreamCxRxBytesBuffered, bytes);
  stats.down(stats::Tcp::Gauge::DownstreamCxRxBytesBuffered, shown_as_buffered_);
  shown_as_buffered_ = bytes;
}

void Session::onFlowControl(Side& from, bool paused) {
  if (&from == client_) {
    proxy_.stats().add(paused ? Counter::DownstreamFlowControlPausedReadingTotal
                              : Counter::DownstreamFlowControlResumedReadingTotal);
    return;
  }
  cluster_->stats().add(paused ? ClusterCounter::UpstreamFlowControlPausedReadingTotal
                               : ClusterCounter::UpstreamFlowControlResumedReadingTotal);
}

void Session::onEnded(Side& side) {
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
  if (by_upstream && server_socket_ && server_socket_->wasReset()) {
    server_close_ = format::CloseType::RemoteReset;
    client_close_ = format::CloseType::LocalReset;
    flags_.set(ResponseFlag::UpstreamRemoteReset);
  } else if (!by_upstream && client_->wasReset()) {
    client_close_ = format::CloseType::RemoteReset;
  }
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
    std::exchange(client_, nullptr)->end();
  }
}

// ---- deadlines ----

net::Millis Session::nextDeadline() const {
  return std::min({connect_deadline_, idle_deadline_, duration_deadline_, log_deadline_,
                   retry_deadline_, demand_deadline_});
}

void Session::watch(net::Millis deadline) {
  if (!Timer::isArmed() || deadline < due()) {
    proxy_.context().loop.timers().arm(this, deadline);
  }
}

void Session::onTimer() {
  const net::Millis now = proxy_.context().loop.now();
  if (log_deadline_ <= now) {
    countBytes();
    logAccess(format::LogType::TcpPeriodic);
    logAgainLater();
  }
  if (connect_deadline_ <= now) {
    connect_deadline_ = net::kNever;
    connectFailed(true, 0);
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
    close_reason_ = "max_connection_duration_reached";
    finish();
  } else if (idle_deadline_ <= now) {
    proxy_.stats().add(Counter::IdleTimeout);
    close_reason_ = "tcp_session_idle_timeout";
    finish();
  }
  if (!finished_ && nextDeadline() != net::kNever) watch(nextDeadline());
}

}  // namespace fairlead::tcp
