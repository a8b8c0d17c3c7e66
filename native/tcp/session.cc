#include "tcp/session.h"

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "format/origin.h"
#include "log/log.h"
#include "upstream/connect.h"

namespace fairlead::tcp {

namespace {

using Counter = stats::Tcp::Counter;
using ClusterCounter = stats::Cluster::Counter;
using ClusterGauge = stats::Cluster::Gauge;
using ClusterHistogram = stats::Cluster::Histogram;
using format::ResponseFlag;

uint64_t wallMicros() {
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
}

}  // namespace

Session::Session(TcpProxy& proxy, net::AcceptedSocket socket, net::ConnectionAccounts& accounts)
    : DownstreamConnection(accounts, socket), proxy_(proxy), started_wall_us_(wallMicros()) {
  upstream::UpstreamContext& context = proxy_.context();
  auto* connection =
      new net::Connection(context.loop, std::move(socket.fd), proxy_.config().buffer_limit_bytes,
                          net::Connection::Start::Established,
                          makeTransport(proxy_.config().transport, {context.worker}));
  client_ = new Side(*connection, context.scratch.batch, context.pipes, *this);
  setTls(connection->tls());
}

bool Session::start() {
  proxy_.stats().add(Counter::DownstreamCxTotal);
  net::Loop& loop = proxy_.context().loop;
  // Nothing is read before there is somewhere to send it.
  client_->pauseReading();
  if (!client_->start()) {
    finish();
    return false;
  }
  const plan::TcpProxy& plan = proxy_.config().plan;
  if (plan.max_downstream_connection_duration_ms > 0) {
    duration_deadline_ = loop.now() + plan.max_downstream_connection_duration_ms;
    watch(duration_deadline_);
  }
  chooseCluster();
  log::debug(log::Component::Filter, log::Tags{.connection = id()},
             "Creating connection to cluster ", cluster_name_);
  if (!cluster_) {
    flags_.set(ResponseFlag::NoClusterFound);
    proxy_.stats().add(Counter::DownstreamCxNoRoute);
    finish();
    return false;
  }
  cluster_->hold();
  connect();
  return !finished_;
}

void Session::chooseCluster() {
  const net::Findings* const found = findings();
  if (proxy_.config().cluster_of_server_name && found && !found->server_name.empty()) {
    cluster_name_ = found->server_name;
    cluster_ = proxy_.findCluster(std::string_view(cluster_name_));
    return;
  }
  const NameIds::Ref& cluster = proxy_.chooseCluster();
  cluster_name_ = cluster.name();
  cluster_ = proxy_.findCluster(cluster);
}

// ---- connecting ----

void Session::connect() {
  stats::Shard<stats::Cluster>& stats = cluster_->stats();
  upstream::Budget& budget = cluster_->cluster().limits(0).connections;
  if (budget.isExhausted()) {
    stats.add(ClusterCounter::UpstreamCxOverflow);
    flags_.set(ResponseFlag::UpstreamOverflow);
    finish();
    return;
  }
  host_ = cluster_->chooseHost();
  if (!host_) {
    flags_.set(ResponseFlag::NoHealthyUpstream);
    finish();
    return;
  }
  ++attempts_;
  upstream::UpstreamContext& context = proxy_.context();
  upstream::HostCounters& host = host_->counters(context.worker);
  int error = 0;
  upstream::ConnectionUse use;
  net::SharedProxiedClient client;
  if (cluster_->cluster().tellsClients()) client = asProxied();
  use.client = client.get();
  const bool tunnels = proxy_.config().tunneling.has_value();
  if (tunnels) use.tunnel_head = tunnelHead();
  net::Connection* const connection = upstream::beginConnection(
      *host_, cluster_->cluster(), context.loop, context.worker, &error, use);
  budget.take();
  holds_upstream_ = true;
  stats.add(ClusterCounter::UpstreamCxTotal);
  if (tunnels) stats.add(ClusterCounter::UpstreamCxHttp1Total);
  stats.up(ClusterGauge::UpstreamCxActive);
  stats.add(ClusterCounter::UpstreamRqPendingTotal);
  stats.up(ClusterGauge::UpstreamRqPendingActive);
  host.cx_total.add();
  host.cx_active.add();
  connect_started_us_ = net::Loop::readClockMicros();
  if (!connection) {
    connectFailed(false, error);
    return;
  }
  server_ = new Side(*connection, context.scratch.batch, context.pipes, *this);
  connect_deadline_ = context.loop.now() + cluster_->settings().connect_timeout_ms;
  watch(connect_deadline_);
}

void Session::onConnectResult(Side& side, int error) {
  if (&side == client_) {
    // Of its handshake. Bytes wait until there is somewhere to send them.
    if (error != 0) finish();
    return;
  }
  connect_deadline_ = net::kNever;
  if (error != 0) {
    connectFailed(false, error);
    return;
  }
  onConnected();
}

void Session::connectFailed(bool timeout, int error) {
  stats::Shard<stats::Cluster>& stats = cluster_->stats();
  // The host was there, and did not grant what it was asked for.
  const bool is_refused = error == EPROTO && proxy_.config().tunneling && server_ &&
                          server_->transportFailure().starts_with("tunnel_response");
  if (!is_refused) {
    stats.add(ClusterCounter::UpstreamCxConnectFail);
    if (timeout) stats.add(ClusterCounter::UpstreamCxConnectTimeout);
    stats.add(ClusterCounter::UpstreamRqPendingFailureEject);
    stats.down(ClusterGauge::UpstreamRqPendingActive);
    host_->counters(proxy_.context().worker).cx_connect_fail.add();
  }
  log::debug(log::Component::Filter, log::Tags{.connection = id()}, "connect to ", host_->text(),
             timeout ? " timed out" : " failed");
  transport_failure_ = error == ECONNREFUSED ? "delayed connect error: Connection refused"
                       : error == EPROTO     ? server_->transportFailure()
                                             : "";
  if (is_refused) {
    countTunnelRefused();
  } else {
    releaseUpstream(!timeout);
  }
  if (attempts_ < std::max<uint32_t>(proxy_.config().plan.max_connect_attempts, 1)) {
    connect();
    return;
  }
  stats.add(ClusterCounter::UpstreamCxConnectAttemptsExceeded);
  flags_.set(ResponseFlag::UpstreamConnectionFailure);
  flags_.set(ResponseFlag::UpstreamRetryLimitExceeded);
  finish(true);
}

// As a request that ended from here.
void Session::countTunnelRefused() {
  stats::Shard<stats::Cluster>& stats = cluster_->stats();
  upstream::HostCounters& host = host_->counters(proxy_.context().worker);
  stats.down(ClusterGauge::UpstreamRqPendingActive);
  stats.add(ClusterCounter::UpstreamRqTotal);
  stats.up(ClusterGauge::UpstreamRqActive);
  host.rq_total.add();
  host.rq_active.add();
  connected_ = true;
  releaseUpstream(false);
  connected_ = false;
}

std::string Session::tunnelHead() const {
  const TcpProxyConfig::Tunneling& tunneling = *proxy_.config().tunneling;
  format::FormatContext context;
  fillFormat(&context);
  Arena arena{1024};
  const auto headers = std::make_unique<http::HeaderMap>();
  tunneling.headers.request.apply(*headers, context, arena);
  const std::string_view hostname = tunneling.hostname.formatTo(context, arena);
  std::string head = "CONNECT ";
  head.append(hostname).append(" HTTP/1.1\r\nhost: ").append(hostname).append("\r\n");
  for (const http::HeaderEntry& entry : *headers) {
    if (entry.name_size == 0) continue;
    head.append(entry.name()).append(": ").append(entry.value()).append("\r\n");
  }
  return head.append("\r\n");
}

void Session::onConnected() {
  upstream::UpstreamContext& context = proxy_.context();
  stats::Shard<stats::Cluster>& stats = cluster_->stats();
  connected_ = true;
  upstream_local_ = server_->localAddress();
  upstream_tls_ = server_->tls();
  stats.record(ClusterHistogram::UpstreamCxConnectMs,
               (net::Loop::readClockMicros() - connect_started_us_) / 1000);
  stats.down(ClusterGauge::UpstreamRqPendingActive);
  stats.add(ClusterCounter::UpstreamRqTotal);
  stats.up(ClusterGauge::UpstreamRqActive);
  host_->counters(context.worker).rq_total.add();
  host_->counters(context.worker).rq_active.add();
  client_->join(*server_);
  server_->join(*client_);
  if (proxy_.config().plan.idle_timeout_ms > 0) {
    idle_deadline_ = context.loop.now() + proxy_.config().plan.idle_timeout_ms;
    watch(idle_deadline_);
  }
  client_->resumeReading();
}

// ---- relaying ----

void Session::onMoved(Side& from) {
  if (idle_deadline_ != net::kNever) {
    idle_deadline_ = proxy_.context().loop.now() + proxy_.config().plan.idle_timeout_ms;
  }
  countBytes();
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
  if (cluster_ && received > 0) {
    cluster_->stats().add(ClusterCounter::UpstreamCxTxBytesTotal, received);
  }
  if (cluster_ && sent > 0) cluster_->stats().add(ClusterCounter::UpstreamCxRxBytesTotal, sent);
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
  return std::min({connect_deadline_, idle_deadline_, duration_deadline_});
}

void Session::watch(net::Millis deadline) {
  if (!Timer::isArmed() || deadline < due()) {
    proxy_.context().loop.timers().arm(this, deadline);
  }
}

void Session::onTimer() {
  const net::Millis now = proxy_.context().loop.now();
  if (connect_deadline_ <= now) {
    connect_deadline_ = net::kNever;
    connectFailed(true, 0);
  } else if (duration_deadline_ <= now) {
    proxy_.stats().add(Counter::MaxDownstreamConnectionDuration);
    flags_.set(ResponseFlag::DurationTimeout);
    finish();
  } else if (idle_deadline_ <= now) {
    proxy_.stats().add(Counter::IdleTimeout);
    finish();
  }
  if (!finished_ && nextDeadline() != net::kNever) watch(nextDeadline());
}

// ---- the end ----

void Session::releaseUpstream(bool by_peer) {
  if (!std::exchange(holds_upstream_, false)) return;
  stats::Shard<stats::Cluster>& stats = cluster_->stats();
  upstream::HostCounters& host = host_->counters(proxy_.context().worker);
  cluster_->cluster().limits(0).connections.giveBack();
  stats.down(ClusterGauge::UpstreamCxActive);
  stats.add(ClusterCounter::UpstreamCxDestroy);
  stats.add(by_peer ? ClusterCounter::UpstreamCxDestroyRemote
                    : ClusterCounter::UpstreamCxDestroyLocal);
  stats.record(ClusterHistogram::UpstreamCxLengthMs,
               (net::Loop::readClockMicros() - connect_started_us_) / 1000);
  host.cx_active.subtract();
  if (connected_) {
    stats.add(ClusterCounter::UpstreamCxDestroyWithActiveRq);
    stats.add(by_peer ? ClusterCounter::UpstreamCxDestroyRemoteWithActiveRq
                      : ClusterCounter::UpstreamCxDestroyLocalWithActiveRq);
    stats.down(ClusterGauge::UpstreamRqActive);
    host.rq_active.subtract();
  } else if (connect_deadline_ != net::kNever) {
    // Ended while connecting.
    stats.down(ClusterGauge::UpstreamRqPendingActive);
    stats.add(ClusterCounter::UpstreamRqCancelled);
  }
  if (Side* server = std::exchange(server_, nullptr)) server->end();
}

void Session::finish(bool by_upstream) {
  if (finished_) return;
  finished_ = true;
  Timer::disarm();
  countBytes();
  if (shown_as_buffered_ > 0) showBuffered(0);
  logAccess();
  leaveListener();
  releaseUpstream(by_upstream);
  if (Side* client = std::exchange(client_, nullptr)) {
    client->end();
  } else {
    proxy_.stats().down(stats::Tcp::Gauge::UpstreamFlushActive);
  }
  if (cluster_) cluster_->letGo();
  proxy_.context().loop.bury(std::unique_ptr<Mortal>(this));
}

void Session::logAccess() {
  const TcpProxyConfig& config = proxy_.config();
  if (config.access_logs.empty()) return;
  format::FormatContext context;
  fillFormat(&context);
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
  context->bytes_received = context->downstream.wire_received = context->upstream.wire_sent =
      received_;
  context->bytes_sent = context->downstream.wire_sent = context->upstream.wire_received = sent_;
  context->attempts = attempts_;
  context->filter_chain_name = proxy_.config().filter_chain_name;
  if (cluster_) context->upstream_cluster = cluster_->cluster().observabilityName();
  context->upstream_cluster_raw = cluster_name_;
  context->transport_failure = transport_failure_;
  context->upstream_tls = upstream_tls_.get();
  if (host_) context->upstream_remote = &host_->address();
  if (connected_) context->upstream_local = &upstream_local_;
}

}  // namespace fairlead::tcp
