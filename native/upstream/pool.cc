#include "upstream/pool.h"

#include <algorithm>

#include "log/log.h"
#include "upstream/connect.h"
#include "upstream/worker_cluster.h"

namespace fairlead::upstream {

using CloseReason = PooledConnection::CloseReason;
using Counter = stats::Cluster::Counter;
using Gauge = stats::Cluster::Gauge;

namespace {

// Of connections that are made ahead, at one occasion.
constexpr int kMostAhead = 3;

}  // namespace

HttpPool::HttpPool(WorkerCluster& cluster, std::shared_ptr<Host> host,
                   http::ClientProtocol protocol, PoolUse use)
    : cluster_(cluster),
      host_(std::move(host)),
      use_(std::move(use)),
      counters_(host_->counters(cluster.context().worker)),
      protocol_(use_.tunnels ? http::ClientProtocol::Http1 : protocol) {}

HttpPool::~HttpPool() {
  failWaiters(PoolFailure::ConnectionTermination, {});
  while (PooledConnection* connection = ready_.front()) {
    connection->codec().abort(CloseReason::Local);
  }
  while (PooledConnection* connection = busy_.front()) {
    connection->codec().abort(CloseReason::Local);
  }
  countAsPool(false);
}

// As the real server, which has no pool for a host without connections and waiting requests.
void HttpPool::countAsPool(bool counts) {
  // Nor any limit of those that speak no HTTP.
  if (counted_ == counts || use_.tunnels) return;
  counted_ = counts;
  Cluster& cluster = cluster_.cluster();
  const uint8_t own = use_.is_high ? 1 : 0;
  if (counts) {
    cluster.limits(own).connection_pools.take();
  } else {
    cluster.limits(own).connection_pools.giveBack();
    // There a host's pools of all priorities go together.
    cluster.limits(1 - own).connection_pools.touch();
  }
}

void HttpPool::giveUpPlace() {
  drainConnections();
  countAsPool(false);
}

// ---- requests ----

void HttpPool::newStream(PoolWaiter& waiter) {
  stats::Shard<stats::Cluster>& stats = cluster_.stats();
  if (cluster_.predicts()) [[unlikely]]
    cluster_.preconnect(protocol_, use_);
  if (waiting_.empty() && !ready_.empty()) {
    log::trace(log::Component::Pool, "using existing fully connected connection to ",
               host_->text());
    const uint8_t priority = waiter.priority;
    attach(waiter);
    if (isAhead()) [[unlikely]]
      openAhead(priority, kMostAhead);
    return;
  }
  countAsPool(true);
  Limits& limits = cluster_.cluster().limits(waiter.priority);
  if (!limits.pending_requests.tryTake()) {
    log::debug(log::Component::Pool, "max pending streams overflow: ", host_->text());
    stats.add(Counter::UpstreamRqPendingOverflow);
    waiter.onPoolFailure(PoolFailure::Overflow, nullptr, {});
    return;
  }
  stats.add(Counter::UpstreamRqPendingTotal);
  stats.up(Gauge::UpstreamRqPendingActive);
  counters_.rq_pending_active.add();
  log::debug(log::Component::Pool, "queueing stream due to no available connections (ready=0 busy=",
             connection_count_ - connecting_, " connecting=", connecting_, ")");
  waiting_.pushBack(&waiter);
  ++waiting_count_;
  const uint8_t priority = waiter.priority;
  if (connecting_streams_ >= waiting_count_) {
    if (isAhead()) openAhead(priority, kMostAhead);
    return;
  }
  PoolFailure failure;
  if (openConnection(priority, &failure)) {
    if (isAhead()) openAhead(priority, kMostAhead - 1);
    return;
  }
  if (!waiter.isLinked()) return;
  if (is_open_shed_) {
    // As the real server: whatever connections there are, it is over, and no host had a part in it.
    cancel(waiter);
    if (connection_count_ == 0 && waiting_count_ == 0) countAsPool(false);
    waiter.onPoolFailure(PoolFailure::Overflow, nullptr, {});
    return;
  }
  // Without any connection of its own to wait for, it cannot wait. Others that wait are looked
  // after by who lost their connections.
  if (connection_count_ > 0) return;
  waiter.unlink();
  failWaiter(waiter, failure, refusalText(open_error_));
}

void HttpPool::cancel(PoolWaiter& waiter) {
  if (!waiter.isLinked()) return;
  waiter.unlink();
  --waiting_count_;
  cluster_.cluster().limits(waiter.priority).pending_requests.giveBack();
  cluster_.stats().down(Gauge::UpstreamRqPendingActive);
  counters_.rq_pending_active.subtract();
  cluster_.stats().add(Counter::UpstreamRqCancelled);
}

bool HttpPool::attach(PoolWaiter& waiter) {
  stats::Shard<stats::Cluster>& stats = cluster_.stats();
  if (!cluster_.cluster().limits(waiter.priority).takeRequest()) {
    stats.add(Counter::UpstreamRqActiveOverflow);
    waiter.onPoolFailure(PoolFailure::Overflow, host_.get(), {});
    return false;
  }
  PooledConnection& connection = *ready_.front();
  connection.countRequest();
  ++active_;
  stats.add(Counter::UpstreamRqTotal);
  stats.up(Gauge::UpstreamRqActive);
  counters_.rq_total.add();
  counters_.rq_active.add();
  http::ClientStream& stream = connection.codec().newStream(waiter);
  if (!connection.hasRoom()) place(connection);
  waiter.onPoolReady(stream, *host_, connection);
  return true;
}

void HttpPool::serveWaiting() {
  // Who is served may give its stream back at once: whoever serves goes on with the next, such that
  // no stack grows with those that wait.
  if (is_serving_) return;
  is_serving_ = true;
  while (!waiting_.empty() && !ready_.empty()) {
    PoolWaiter* waiter = waiting_.popFront();
    --waiting_count_;
    cluster_.cluster().limits(waiter->priority).pending_requests.giveBack();
    cluster_.stats().down(Gauge::UpstreamRqPendingActive);
    counters_.rq_pending_active.subtract();
    attach(*waiter);
  }
  is_serving_ = false;
  // Connections were lost while requests wait: as many as those need are opened again.
  while (!waiting_.empty() && connecting_streams_ < waiting_count_ && ready_.empty()) {
    PoolFailure failure;
    if (!openConnection(waiting_.front()->priority, &failure)) {
      if (connection_count_ == 0) failWaiters(failure, refusalText(open_error_));
      return;
    }
  }
  if (!waiting_.empty() && isAhead()) openAhead(waiting_.front()->priority, kMostAhead);
}

void HttpPool::failWaiters(PoolFailure failure, std::string_view details) {
  List<PoolWaiter> failing;
  waiting_.moveAllTo(failing);
  while (PoolWaiter* waiter = failing.popFront()) failWaiter(*waiter, failure, details);
}

void HttpPool::failWaiter(PoolWaiter& waiter, PoolFailure failure, std::string_view details) {
  --waiting_count_;
  cluster_.cluster().limits(waiter.priority).pending_requests.giveBack();
  cluster_.stats().down(Gauge::UpstreamRqPendingActive);
  cluster_.stats().add(Counter::UpstreamRqPendingFailureEject);
  counters_.rq_pending_active.subtract();
  waiter.onPoolFailure(failure, host_.get(), details);
}

}  // namespace fairlead::upstream
