#include "tcp/connection_counts.h"

#include <utility>

#include "net/connection_id.h"
#include "upstream/connect_socket.h"

namespace fairlead::tcp {

namespace {
using ClusterCounter = stats::Cluster::Counter;
using ClusterGauge = stats::Cluster::Gauge;
using ClusterHistogram = stats::Cluster::Histogram;
}  // namespace

void ConnectionCounts::begin(upstream::WorkerCluster& cluster, upstream::Host& host,
                             bool is_http1) {
  cluster_ = &cluster;
  host_ = &host;
  state_ = State::Connecting;
  is_http1_ = is_http1;
  id_ = net::takeConnectionId();
  started_us_ = net::Loop::readClockMicros();
  stats::Shard<stats::Cluster>& stats = cluster.stats();
  limits().connections.take();
  limits().pending_requests.take();
  // In the real server it is of a pool of its host's.
  if (is_http1) limits().connection_pools.touch();
  stats.add(ClusterCounter::UpstreamCxTotal);
  if (is_http1) stats.add(ClusterCounter::UpstreamCxHttp1Total);
  stats.up(ClusterGauge::UpstreamCxActive);
  stats.add(ClusterCounter::UpstreamRqPendingTotal);
  stats.up(ClusterGauge::UpstreamRqPendingActive);
  hostCounters().cx_total.add();
  hostCounters().cx_active.add();
}

upstream::Limits& ConnectionCounts::limits() { return cluster_->cluster().limits(0); }

upstream::HostCounters& ConnectionCounts::hostCounters() {
  return host_->counters(cluster_->context().worker);
}

void ConnectionCounts::connectFailed(bool timeout, int error) {
  stats::Shard<stats::Cluster>& stats = cluster_->stats();
  stats.add(ClusterCounter::UpstreamCxConnectFail);
  if (timeout) stats.add(ClusterCounter::UpstreamCxConnectTimeout);
  if (upstream::isUnbound(error)) stats.add(ClusterCounter::BindErrors);
  stats.add(ClusterCounter::UpstreamRqPendingFailureEject);
  stats.down(ClusterGauge::UpstreamRqPendingActive);
  limits().pending_requests.giveBack();
  hostCounters().cx_connect_fail.add();
  state_ = State::Failed;
  end(!timeout && error >= 0);
}

void ConnectionCounts::tunnelRefused(bool is_broken) {
  if (is_broken) cluster_->stats().add(ClusterCounter::UpstreamCxProtocolError);
  end(false);
}

void ConnectionCounts::connected() {
  state_ = State::Connected;
  stats::Shard<stats::Cluster>& stats = cluster_->stats();
  stats.record(ClusterHistogram::UpstreamCxConnectMs,
               (net::Loop::readClockMicros() - started_us_) / 1000);
  stats.down(ClusterGauge::UpstreamRqPendingActive);
  limits().pending_requests.giveBack();
  // As the real server, which counts connections as requests, and has no limit for them.
  limits().requests.take();
  stats.add(ClusterCounter::UpstreamRqTotal);
  stats.up(ClusterGauge::UpstreamRqActive);
  hostCounters().rq_total.add();
  hostCounters().rq_active.add();
}

void ConnectionCounts::end(bool by_peer) {
  const State before = std::exchange(state_, State::None);
  if (before == State::None) return;
  // As the real server, whose codec ends what its host has ended.
  by_peer = by_peer && !(is_http1_ && before == State::Connected);
  stats::Shard<stats::Cluster>& stats = cluster_->stats();
  limits().connections.giveBack();
  // Where a host's pools of all priorities go together.
  if (is_http1_) cluster_->cluster().limits(1).connection_pools.touch();
  stats.down(ClusterGauge::UpstreamCxActive);
  stats.add(ClusterCounter::UpstreamCxDestroy);
  stats.add(by_peer ? ClusterCounter::UpstreamCxDestroyRemote
                    : ClusterCounter::UpstreamCxDestroyLocal);
  stats.record(ClusterHistogram::UpstreamCxLengthMs,
               (net::Loop::readClockMicros() - started_us_) / 1000);
  hostCounters().cx_active.subtract();
  if (before == State::Connected) {
    stats.add(ClusterCounter::UpstreamCxDestroyWithActiveRq);
    stats.add(by_peer ? ClusterCounter::UpstreamCxDestroyRemoteWithActiveRq
                      : ClusterCounter::UpstreamCxDestroyLocalWithActiveRq);
    stats.down(ClusterGauge::UpstreamRqActive);
    limits().requests.giveBack();
    hostCounters().rq_active.subtract();
  } else if (before == State::Connecting) {
    stats.down(ClusterGauge::UpstreamRqPendingActive);
    limits().pending_requests.giveBack();
    stats.add(ClusterCounter::UpstreamRqCancelled);
  }
}

}  // namespace fairlead::tcp
