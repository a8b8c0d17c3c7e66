// How a session comes to its host: which cluster, by name or on demand, the tries to connect, and
// the pauses between them.
#include <algorithm>
#include <cerrno>

#include "log/log.h"
#include "proxy/destination.h"
#include "proxy/pool_use.h"
#include "proxy/subset_wish.h"
#include "route/hash_policy.h"
#include "tcp/session.h"
#include "upstream/connect.h"
#include "upstream/state_wishes.h"

namespace fairlead::tcp {

namespace {

using Counter = stats::Tcp::Counter;
using ClusterCounter = stats::Cluster::Counter;
using DemandCounter = stats::TcpOnDemand::Counter;
using format::ResponseFlag;

// What filters before this one may have said of the connection.
constexpr std::string_view kClusterState = "envoy.tcp_proxy.cluster";

}  // namespace

// ---- a host by its name ----

bool Session::lookUpServerName() {
  if (!nameHost(proxy_.config().names_port)) return true;
  upstream::NameCache& names = *proxy_.config().names;
  const unsigned worker = proxy_.context().worker;
  const upstream::KnownName* known = nullptr;
  using State = upstream::NameCache::State;
  const State state =
      names.enterAndAsk(worker, host_name_, proxy_.context().loop.now(), *this, &known);
  if (state == State::Known) return true;
  if (state != State::Waits) finish();
  return false;
}

bool Session::nameHost(uint32_t port) {
  const upstream::HostByState by_state = upstream::hostByState(filterState());
  const net::Findings* const found = findings();
  const std::string_view asked = found ? std::string_view(found->server_name) : std::string_view();
  if (by_state.host.empty() && asked.empty()) return false;
  host_name_ = by_state.nameOr(asked, port);
  wish_.name = host_name_;
  return true;
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
  if (auto own = proxy::subsetOf(wish_.criteria, findings(), {})) {
    criteria_ = std::move(own);
    wish_.criteria = &*criteria_;
  }
  if (const plan::DestinationHosts* const rules = cluster_->destinationRules()) {
    destination_ = proxy::findDestination(*rules, {}, this, cluster_->stats());
    if (destination_) wish_.destination = &*destination_;
  }
  if (const plan::NamedHosts* const named = cluster_->namedHosts(); named && host_name_.empty()) {
    nameHost(named->default_port);
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
  if (const std::string& name = proxy_.config().plan.hashes_filter_state; !name.empty()) {
    wish_.hash = route::hashOfState(name, nullptr, filterState());
  }
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
  flags_.set(ResponseFlag::OverloadManager);
  close_reason_ = "overload_manager_close";
  finish();
  return true;
}

void Session::connect() {
  if (isShedAt(net::Overload::Subject::PointTcpProxyConnect)) {
    log::debug(log::Component::Filter, log::Tags{.connection = id()},
               "load shedding in establishUpstreamConnection");
    return;
  }
  if (format::Exchange* const exchange = this->exchange()) {
    exchange->markFirst(format::TimePoint::PoolBegin, net::Loop::readClockMicros());
  }
  stats::Shard<stats::Cluster>& stats = cluster_->stats();
  if (cluster_->cluster().limits(0).connections.isExhausted()) {
    stats.add(ClusterCounter::UpstreamCxOverflow);
    endWithoutHost(ResponseFlag::UpstreamOverflow, "tcp_initializion_failure:2");
    return;
  }
  if (connectsThroughPool()) {
    connectThroughPool();
  } else {
    connectToHost();
  }
}

void Session::endWithoutHost(ResponseFlag flag, std::string_view reason) {
  notePoolAnswer();
  flags_.set(flag);
  close_reason_ = reason;
  finish();
}

// There is a connection, or there will be none: of several tries, by the last.
void Session::notePoolAnswer() {
  if (format::Exchange* const exchange = this->exchange()) {
    exchange->at(format::TimePoint::PoolReady) = net::Loop::readClockMicros();
  }
}

void Session::useHostCluster(upstream::WorkerCluster* cluster) {
  if (cluster) cluster->hold();
  HealthFollower::unlink();
  if (cluster && cluster->settings().closes_with_health) cluster->follow(*this);
  if (host_cluster_) host_cluster_->letGo();
  host_cluster_ = cluster;
}

bool Session::mayOpen() {
  stats::Shard<stats::Cluster>& stats = host_cluster_->stats();
  if (host_cluster_->cluster().limits(0).pending_requests.isExhausted()) {
    stats.add(ClusterCounter::UpstreamRqPendingOverflow);
    return false;
  }
  const upstream::UpstreamContext& context = proxy_.context();
  if (!context.overload.isActive() ||
      !context.overload.sheds(net::Overload::Subject::PointPoolConnection, context.random)) {
    return true;
  }
  // It had begun to wait for what is not made now.
  stats.add(ClusterCounter::UpstreamRqPendingTotal);
  stats.add(ClusterCounter::UpstreamRqCancelled);
  return false;
}

void Session::connectToHost() {
  const upstream::Aggregate::Place place = cluster_->placeFor(wish_);
  useHostCluster(place.member);
  std::shared_ptr<upstream::Host> tried_before = std::move(host_);
  host_ = place.member ? place.member->chooseHost(wish_, place.loads) : nullptr;
  if (!host_) {
    endWithoutHost(ResponseFlag::NoHealthyUpstream, "tcp_initializion_failure:1");
    return;
  }
  ++attempts_;
  upstream::UpstreamContext& context = proxy_.context();
  if (!mayOpen()) {
    // As the real server, which tells of no host that nothing was made for.
    host_ = std::move(tried_before);
    return tryAgain();
  }
  if (format::Exchange* const exchange = this->exchange()) {
    if (!proxy_.config().tunneling) {
      exchange->at(format::TimePoint::UpstreamConnectBegin) = net::Loop::readClockMicros();
    }
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
  upstream::PoolUse kept;
  if (net::isStateForHosts()) proxy::addStates(filterState(), nullptr, &kept);
  use.asked_name = kept.server_name;
  use.wanted_names = kept.wanted_names;
  use.chosen_protocols = kept.protocols;
  use.states = kept.states.get();
  use.internal_listeners = context.internal_listeners;
  use.stats = &host_cluster_->stats();
  use.host_counters = &host_->counters(context.worker);
  const auto& tunneling = proxy_.config().tunneling;
  if (tunneling) {
    makeTunnelId();
    format::FormatContext format;
    fillFormat(&format);
    use.tunnel_head = tunneling->connectHead(format, tunnelId());
    tunnel_request_bytes_ = static_cast<uint32_t>(use.tunnel_head.size());
    tunnel_header_bytes_ = static_cast<uint32_t>(headerLineBytes(use.tunnel_head));
    use.tunnel_answer = tunnel_answer_ = std::make_shared<http::ConnectAnswer>();
    tunnel_answer_->on_asked = [this] { onTunnelAsked(); };
  }
  counts_.begin(*host_cluster_, *host_, tunneling.has_value());
  int error = 0;
  net::Connection* const connection = upstream::beginConnection(
      *host_, host_cluster_->cluster(), context.loop, context.worker, &error, use);
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
    return std::exchange(waits_for_client_, false) ? goOn() : begin();
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
  const bool is_asked = isTunnelAsked();
  const bool is_broken = is_asked && tunnel_answer_->is_broken;
  log::debug(log::Component::Filter, log::Tags{.connection = id()}, "connect to ", host_->text(),
             timeout ? " timed out" : " failed");
  transport_failure_ = error == ECONNREFUSED ? "delayed connect error: Connection refused"
                       : error == EPROTO     ? server_socket_->transportFailure()
                                             : "";
  if (error != 0 && !server_socket_) {
    const net::OriginalSource* const from = findings() ? findings()->source.get() : nullptr;
    transport_failure_ = upstream::refusalText(*host_, host_cluster_->cluster(), from, error);
  }
  keepTunnelHead();
  if (error >= 0) flags_.set(ResponseFlag::UpstreamConnectionFailure);
  tellOutlier(timeout ? upstream::OutlierResult::Timeout : upstream::OutlierResult::ConnectFailed);
  if (is_asked) {
    counts_.tunnelRefused(is_broken);
  } else {
    counts_.connectFailed(timeout, error);
  }
  tryAgain();
}

void Session::tellOutlier(upstream::OutlierResult result) {
  upstream::OutlierMonitor* const monitor = host_->outlier();
  if (monitor) monitor->put(host_->counters(proxy_.context().worker), result);
}

// Once a try has failed.
void Session::tryAgain() {
  notePoolAnswer();
  releaseUpstream(false);
  if (attempts_ < std::max<uint32_t>(proxy_.config().plan.max_connect_attempts, 1)) {
    const net::Millis wait = backoff();
    if (wait == 0) return connect();
    retry_deadline_ = proxy_.context().loop.now() + wait;
    return watch(retry_deadline_);
  }
  cluster_->stats().add(ClusterCounter::UpstreamCxConnectAttemptsExceeded);
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

}  // namespace fairlead::tcp
